"""Models that are installed: inside the package, and in distributions that declare models.

A distribution declares a model with an entry point in the group ``fencepost.models``: its name is the model's, and its
value is a package. The folder of that package contains the model, in a folder of the model's name. Nothing of that
package is imported.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP: Final = "fencepost.models"


@dataclass(frozen=True)
class InstalledModel:
    """A model by name. Its folder may be missing or damaged: only opening the model shows that."""

    name: str
    path: Path
    distribution: str  # name and version of what it came with


def declared_models() -> list[InstalledModel]:
    """The models that installed distributions declare, without those whose declaration can't be read.

    Reads the metadata of every distribution.
    """
    from importlib.metadata import entry_points  # here: importing it takes longer than finding the packaged model

    points = sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value))
    return [model for point in points if (model := _declared(point)) is not None]


def packaged_models() -> list[InstalledModel]:
    """The models inside the package."""
    from fencepost import __version__  # here: ``fencepost`` itself is being imported when this module is

    folder = packaged_folder()
    names = sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
    return [InstalledModel(name, folder / name, f"fencepost {__version__}") for name in names]


def packaged_folder() -> Path:
    return Path(str(resources.files("fencepost"))) / "models"


def installed_models() -> list[InstalledModel]:
    """All models that have a name, each once: a distribution's comes before one of that name inside the package."""
    by_name: dict[str, InstalledModel] = {}
    for model in [*declared_models(), *packaged_models()]:
        by_name.setdefault(model.name, model)
    return [by_name[name] for name in sorted(by_name)]


def _declared(point: EntryPoint) -> InstalledModel | None:
    try:
        distribution = "unknown" if point.dist is None else f"{point.dist.name} {point.dist.version}"
        return InstalledModel(point.name, _package_folder(point.module) / point.name, distribution)
    except Exception:  # damaged metadata, or not the name of a package: versions of Python raise different errors
        return None


def _package_folder(package: str) -> Path:
    """Where a package is; where it would be if it were in the current folder, if it is missing."""
    from importlib.util import find_spec  # here, as in ``declared_models``

    parts = package.split(".")
    spec = find_spec(parts[0])  # of a package inside another one it would import the other one
    locations = [] if spec is None or spec.submodule_search_locations is None else [*spec.submodule_search_locations]
    return Path(locations[0] if locations else parts[0], *parts[1:])
