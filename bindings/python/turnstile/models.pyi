from os import PathLike
from typing import (
    Any,
    Dict,
    Iterable,
    Iterator,
    List,
    Optional,
    Pattern,
    Sequence,
    Tuple,
    Type,
    TypeVar,
    Union,
    overload,
)

from turnstile import _core
from turnstile.vocab import Vocab

T = TypeVar("T")
Label = TypeVar("Label")

class Measure:
    tokens: int
    forced: int
    least_legal_mass: float
    def __init__(self) -> None: ...
    @property
    def legal_mass(self) -> float: ...

class Model:
    vocab: Vocab
    last: Measure
    def __init__(self, vocab: Vocab) -> None: ...
    def encode(self, text: str) -> List[int]: ...
    def logits(self, tokens: Sequence[int]) -> Any: ...
    def template(self, prompt: str, system: Optional[str] = None) -> str: ...
    @overload
    def __call__(
        self,
        prompt: str,
        type: Union[None, Pattern[str], _core.Grammar] = None,
        *,
        system: Optional[str] = None,
        max_tokens: int = 512,
        **sampling: Any,
    ) -> str: ...
    @overload
    def __call__(
        self,
        prompt: str,
        type: Type[T],
        *,
        system: Optional[str] = None,
        max_tokens: int = 512,
        **sampling: Any,
    ) -> T: ...
    @overload
    def __call__(
        self,
        prompt: str,
        type: Any = None,
        *,
        system: Optional[str] = None,
        max_tokens: int = 512,
        **sampling: Any,
    ) -> Any: ...
    def stream(
        self,
        prompt: str,
        type: Any = None,
        *,
        system: Optional[str] = None,
        max_tokens: int = 512,
        **sampling: Any,
    ) -> Iterator[str]: ...
    @overload
    def batch(self, prompts: Iterable[str], type: Type[T], **options: Any) -> List[T]: ...
    @overload
    def batch(self, prompts: Iterable[str], type: Any = None, **options: Any) -> List[Any]: ...
    @overload
    def measure(self, prompt: str, type: Type[T], **options: Any) -> Tuple[T, Measure]: ...
    @overload
    def measure(self, prompt: str, type: Any = None, **options: Any) -> Tuple[Any, Measure]: ...
    def choose(
        self, prompt: str, labels: Iterable[Label], *, system: Optional[str] = None
    ) -> Dict[Label, float]: ...

class LlamaCpp(Model):
    def __init__(self, model: Union[str, PathLike[str], Any], **options: Any) -> None: ...
    def encode(self, text: str) -> List[int]: ...
    def logits(self, tokens: Sequence[int]) -> Any: ...
    def template(self, prompt: str, system: Optional[str] = None) -> str: ...

class OpenAICompatible:
    url: str
    model: str
    timeout: float
    def __init__(
        self,
        url: str,
        model: str = "default",
        *,
        api_key: Optional[str] = None,
        timeout: float = 120.0,
    ) -> None: ...
    @overload
    def __call__(
        self,
        prompt: str,
        type: Type[T],
        *,
        system: Optional[str] = None,
        max_tokens: int = 512,
        **more: Any,
    ) -> T: ...
    @overload
    def __call__(
        self,
        prompt: str,
        type: Any = None,
        *,
        system: Optional[str] = None,
        max_tokens: int = 512,
        **more: Any,
    ) -> Any: ...
    def batch(self, prompts: Iterable[str], type: Any = None, **options: Any) -> List[Any]: ...
