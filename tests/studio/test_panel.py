"""What the pages save: pictures with the pixels of the view, films that loop."""

from io import BytesIO

import numpy as np
from PIL import Image

from pliant.view.panel import encoded


def test_a_screenshot_has_the_pixels_of_the_view_and_a_film_all_of_its_pictures():
    images = [np.full((12, 16, 3), shade, dtype=np.uint8) for shade in (10, 120, 240)]
    still = np.asarray(Image.open(BytesIO(encoded(images[:1], "PNG"))))
    assert np.array_equal(still, images[0])
    film = Image.open(BytesIO(encoded(images, "WEBP")))
    assert film.n_frames == 3 and film.info["loop"] == 0
