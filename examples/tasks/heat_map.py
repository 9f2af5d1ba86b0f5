"""How the sag of a bar depends on its stiffness and its density: nine runs, one picture."""

from pathlib import Path

from pliant.sweep import points, sweep
from pliant.sweep_chart import draw

if __name__ == "__main__":  # runs are processes of their own, which import this file
    axes = ["material.E=50 kPa,100 kPa,200 kPa", "density=500,1000,2000"]
    todo = points("cantilever", axes, ["duration=0.05", "parameters.cells=1"], Path("runs/heat"))
    rows = sweep(todo, workers=1)
    print(f"picture: {draw(rows, axes, 'energy', 'runs/heat/heat.png')}")
