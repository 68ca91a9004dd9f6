"""Constructor arguments as parameters, as in scikit-learn."""

from __future__ import annotations

import inspect
from typing import Any, TypeVar

Self = TypeVar("Self", bound="Parameters")


class Parameters:
    """The methods of an estimator whose constructor stores its arguments unchanged, each as the attribute of its name."""

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        parameters = inspect.signature(cls.__init__).parameters
        return {name: parameter.default for name, parameter in parameters.items() if name != "self"}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings, as in scikit-learn."""
        return {name: getattr(self, name) for name in self._defaults()}

    def set_params(self: Self, **params: Any) -> Self:
        """Changes settings. A fitted model stays as it is until the next fit."""
        known = self._defaults()
        for name, value in params.items():
            if name not in known:
                raise ValueError(f"unknown parameter {name!r}\n  help: known: {', '.join(known)}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = self._defaults()
        given = {name: value for name, value in self.get_params().items() if value is not defaults[name]}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in given.items())})"
