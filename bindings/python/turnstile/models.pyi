from os import PathLike
from typing import (
    Any,
    AsyncIterator,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    Mapping,
    NamedTuple,
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
_Tools = Sequence[Union[Callable[..., Any], Mapping[str, Any]]]
Label = TypeVar("Label")

class Call(NamedTuple):
    name: str
    arguments: Dict[str, Any]

class Measure:
    tokens: int
    forced: int
    least_legal_mass: float
    def __init__(self) -> None: ...
    @property
    def legal_mass(self) -> float: ...

class _Answers:
    @overload
    def batch(
        self,
        prompts: Iterable[str],
        type: Union[None, Pattern[str], _core.Grammar] = None,
        *,
        progress: bool = False,
        **options: Any,
    ) -> List[str]: ...
    @overload
    def batch(
        self, prompts: Iterable[str], type: Type[T], *, progress: bool = False, **options: Any
    ) -> List[T]: ...
    @overload
    def batch(
        self, prompts: Iterable[str], type: _Tools, *, progress: bool = False, **options: Any
    ) -> List[Call]: ...
    @overload
    def batch(
        self, prompts: Iterable[str], type: Any = None, *, progress: bool = False, **options: Any
    ) -> List[Any]: ...
    @overload
    async def acall(
        self, prompt: str, type: Union[None, Pattern[str], _core.Grammar] = None, **options: Any
    ) -> str: ...
    @overload
    async def acall(self, prompt: str, type: Type[T], **options: Any) -> T: ...
    @overload
    async def acall(self, prompt: str, type: _Tools, **options: Any) -> Call: ...
    @overload
    async def acall(self, prompt: str, type: Any = None, **options: Any) -> Any: ...
    @overload
    async def abatch(
        self,
        prompts: Iterable[str],
        type: Union[None, Pattern[str], _core.Grammar] = None,
        **options: Any,
    ) -> List[str]: ...
    @overload
    async def abatch(self, prompts: Iterable[str], type: Type[T], **options: Any) -> List[T]: ...
    @overload
    async def abatch(self, prompts: Iterable[str], type: _Tools, **options: Any) -> List[Call]: ...
    @overload
    async def abatch(
        self, prompts: Iterable[str], type: Any = None, **options: Any
    ) -> List[Any]: ...

class Model(_Answers):
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
        type: _Tools,
        *,
        system: Optional[str] = None,
        max_tokens: int = 512,
        **sampling: Any,
    ) -> Call: ...
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
    ) -> Iterator[Any]: ...
    def stream_text(
        self,
        prompt: str,
        type: Any = None,
        *,
        system: Optional[str] = None,
        max_tokens: int = 512,
        **sampling: Any,
    ) -> Iterator[str]: ...
    def astream(self, prompt: str, type: Any = None, **options: Any) -> AsyncIterator[Any]: ...
    @overload
    def measure(
        self, prompt: str, type: Union[None, Pattern[str], _core.Grammar] = None, **options: Any
    ) -> Tuple[str, Measure]: ...
    @overload
    def measure(self, prompt: str, type: Type[T], **options: Any) -> Tuple[T, Measure]: ...
    @overload
    def measure(self, prompt: str, type: _Tools, **options: Any) -> Tuple[Call, Measure]: ...
    @overload
    def measure(self, prompt: str, type: Any = None, **options: Any) -> Tuple[Any, Measure]: ...
    @overload
    async def ameasure(
        self, prompt: str, type: Union[None, Pattern[str], _core.Grammar] = None, **options: Any
    ) -> Tuple[str, Measure]: ...
    @overload
    async def ameasure(self, prompt: str, type: Type[T], **options: Any) -> Tuple[T, Measure]: ...
    @overload
    async def ameasure(self, prompt: str, type: _Tools, **options: Any) -> Tuple[Call, Measure]: ...
    @overload
    async def ameasure(
        self, prompt: str, type: Any = None, **options: Any
    ) -> Tuple[Any, Measure]: ...
    def choose(
        self, prompt: str, labels: Iterable[Label], *, system: Optional[str] = None
    ) -> Dict[Label, float]: ...
    async def achoose(
        self, prompt: str, labels: Iterable[Label], *, system: Optional[str] = None
    ) -> Dict[Label, float]: ...

class LlamaCpp(Model):
    def __init__(self, model: Union[str, PathLike[str], Any], **options: Any) -> None: ...
    def encode(self, text: str) -> List[int]: ...
    def logits(self, tokens: Sequence[int]) -> Any: ...
    def template(self, prompt: str, system: Optional[str] = None) -> str: ...

class Transformers(Model):
    def __init__(self, model: Any, tokenizer: Any) -> None: ...
    def encode(self, text: str) -> List[int]: ...
    def logits(self, tokens: Sequence[int]) -> Any: ...
    def template(self, prompt: str, system: Optional[str] = None) -> str: ...

class VLLM(_Answers):
    def __init__(self, llm: Any) -> None: ...
    @overload
    def __call__(
        self,
        prompt: str,
        type: Union[None, Pattern[str]] = None,
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
        type: _Tools,
        *,
        system: Optional[str] = None,
        max_tokens: int = 512,
        **sampling: Any,
    ) -> Call: ...
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
    @overload
    def batch(
        self,
        prompts: Iterable[str],
        type: Union[None, Pattern[str]] = None,
        *,
        system: Optional[str] = None,
        max_tokens: int = 512,
        progress: bool = False,
        **sampling: Any,
    ) -> List[str]: ...
    @overload
    def batch(
        self,
        prompts: Iterable[str],
        type: Type[T],
        *,
        system: Optional[str] = None,
        max_tokens: int = 512,
        progress: bool = False,
        **sampling: Any,
    ) -> List[T]: ...
    @overload
    def batch(
        self,
        prompts: Iterable[str],
        type: _Tools,
        *,
        system: Optional[str] = None,
        max_tokens: int = 512,
        progress: bool = False,
        **sampling: Any,
    ) -> List[Call]: ...
    @overload
    def batch(
        self,
        prompts: Iterable[str],
        type: Any = None,
        *,
        system: Optional[str] = None,
        max_tokens: int = 512,
        progress: bool = False,
        **sampling: Any,
    ) -> List[Any]: ...
    def choose(
        self, prompt: str, labels: Iterable[Label], *, system: Optional[str] = None
    ) -> Dict[Label, float]: ...
    async def achoose(
        self, prompt: str, labels: Iterable[Label], *, system: Optional[str] = None
    ) -> Dict[Label, float]: ...

class OpenAICompatible(_Answers):
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
        type: Union[None, Pattern[str], _core.Grammar] = None,
        *,
        system: Optional[str] = None,
        max_tokens: int = 512,
        **more: Any,
    ) -> str: ...
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
        type: _Tools,
        *,
        system: Optional[str] = None,
        max_tokens: int = 512,
        **more: Any,
    ) -> Call: ...
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
