"""The parameters of every operation, read from a query or a JSON body; what is wrong is told by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, ValidationError
from pydantic_core import ErrorDetails
from rapidfuzz import process

from ...artifacts.query.model import Mode
from ..problems import FieldProblem, HttpProblem

_P = TypeVar("_P", bound="Parameters")
_MOST_NEAREST, _LEAST_LIKENESS = 5, 50.0
_ALLOWED_CONTROLS = frozenset("\t\n\r")
_TOO_LONG = "string_too_long"


def _without_controls(text: str) -> str:
    """Return a text that can be one; raise ``ValueError`` for NUL and other control characters."""
    if any(character < " " and character not in _ALLOWED_CONTROLS for character in text):
        raise ValueError("it holds a control character")
    return text


def _whole(value: object) -> object:
    """Return a number such as 3.0 as the whole number that it is in JSON."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def text_field(most: int, description: str, **more: Any) -> Any:
    """Return the field of a text of at most so many characters."""
    return Field(max_length=most, description=description, **more)


WHOLE = BeforeValidator(_whole)
# As a class of a regular expression: what a text may hold.
_ALLOWED = r"[^\x00-\x08\x0b\x0c\x0e-\x1f]"
Text = Annotated[
    str, AfterValidator(_without_controls), Field(json_schema_extra={"pattern": f"^{_ALLOWED}*$"})
]
SnapshotId = Annotated[str, Field(pattern="^([0-9a-f]{20})?$")]
_SnapshotName = Annotated[
    SnapshotId, Field(description="The snapshot that must answer; another is an error (410).")
]
# What the schema says of blanks is told by the operation: of several searches, one may be empty.
_NOT_BLANK = rf"{_ALLOWED}*[^\s\x00-\x1f]{_ALLOWED}*"
_WORDS: dict[str, JsonValue] = {"minLength": 1, "pattern": f"^{_NOT_BLANK}$"}
_DATE = (
    r"(?!0000)[0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)"
    r"|02-(0[1-9]|1[0-9]|2[0-8]))"
)
# A filter's own parser tells what is wrong with one.
_FILTER_FORM: dict[str, JsonValue] = {
    "pattern": rf"^((collection|path|tag|author|language|doc|front\.[^:\x00-\x1f]+):{_NOT_BLANK}"
    rf"|community:[0-9]{{1,100}}|(after|before):{_DATE})$"
}
_Filters = Annotated[
    tuple[Annotated[Text, Field(min_length=1, max_length=500, json_schema_extra=_FILTER_FORM)], ...],
    Field(
        max_length=20, description="KIND:VALUE; those of one kind are alternatives, the kinds must all hold."
    ),
]
_Collections = Annotated[
    tuple[Annotated[Text, Field(min_length=1, max_length=64)], ...],
    Field(max_length=20, description="Only documents of these collections."),
]
_TopN = Annotated[int, Field(ge=1, le=50, description="How many hits."), WHOLE]
_ExcerptChars = Annotated[
    int, Field(ge=0, le=2_000, description="The length of excerpts; 0: as the settings say."), WHOLE
]
_Explain = Annotated[bool, Field(description="Whether to say where each score comes from.")]


class Parameters(BaseModel):
    """What an operation takes; anything else is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    snapshot: _SnapshotName = ""

    @classmethod
    def owner(cls, _location: Sequence[int | str]) -> type[BaseModel]:
        """Return the model that a name belongs to which is wrong at this place."""
        return cls


class SearchParameters(Parameters):
    """A search."""

    q: Text = text_field(1_000, "Words, a question, or code.", json_schema_extra=_WORDS)
    top_n: _TopN = 10
    mode: Annotated[Mode, Field(description="Which lists are asked.")] = "hybrid"
    filter: _Filters = ()
    collection: _Collections = ()
    hypothesis: Text = text_field(4_000, "An answer as it might be written (HyDE).", default="")
    explain: _Explain = False
    excerpt_chars: _ExcerptChars = 0
    partial: Annotated[bool, Field(description="Whether shards that do not answer may be missing.")] = True


class MultiSearchParameters(Parameters):
    """Several searches, each answered by itself."""

    searches: tuple[SearchParameters, ...] = Field(min_length=1, max_length=10)

    @classmethod
    def owner(cls, location: Sequence[int | str]) -> type[BaseModel]:
        """Return the model of one search for what is wrong in it."""
        return SearchParameters if location[0] == "searches" else cls


class SimilarParameters(Parameters):
    """Documents like one."""

    doc_id: Text = text_field(1_000, "A document, as collection:path.", min_length=1)
    top_n: _TopN = 10
    filter: _Filters = ()
    collection: _Collections = ()
    explain: _Explain = False


class RelatedParameters(Parameters):
    """Words near a word."""

    term: Text = text_field(200, "A word of the vocabulary, or any text.", json_schema_extra=_WORDS)
    top_n: _TopN = 10


class DocumentParameters(Parameters):
    """A document, or a part of it."""

    section: Text = text_field(500, "The anchor of a section; empty: all of the document.", default="")
    start: Annotated[int, Field(ge=0, le=1_000_000_000, description="The first character."), WHOLE] = 0
    max_chars: Annotated[int, Field(ge=1, le=40_000, description="The most characters."), WHOLE] = 20_000


class DocumentListParameters(Parameters):
    """The documents whose names begin so."""

    prefix: Text = text_field(1_000, "The beginning of their names, as collection:folder/.", default="")
    after: Text = text_field(1_000, "The name after which the list goes on.", default="")
    limit: Annotated[int, Field(ge=1, le=1_000, description="The most documents."), WHOLE] = 100


def of_query(model: type[_P], given: Iterable[tuple[str, str]]) -> _P:
    """Return the parameters of a query; raise ``HttpProblem`` naming what is wrong."""
    values: dict[str, Any] = {}
    for name, value in given:
        if name in _lists(model):
            values.setdefault(name, []).append(value)
        elif name in values:
            detail = f"{name} is given twice."
            raise HttpProblem("parameter-repeated", detail, [FieldProblem(name, "give it once")])
        else:
            values[name] = value
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise _problem(model, error) from None


def of_body(model: type[_P], content: bytes) -> _P:
    """Return the parameters of a JSON object, whose values have their types; raise ``HttpProblem``."""
    try:
        return model.model_validate_json(content, strict=True)
    except ValidationError as error:
        raise _problem(model, error) from None


def _lists(model: type[Parameters]) -> frozenset[str]:
    return frozenset(name for name in ("filter", "collection") if name in model.model_fields)


def _problem(model: type[Parameters], error: ValidationError) -> HttpProblem:
    """Return the problem of the first mistake, with all of them by name."""
    details = error.errors(include_url=False, include_context=False, include_input=False)
    if not details[0]["loc"]:
        return HttpProblem("body-invalid", details[0]["msg"])
    # A name that is not known may be meant for the one that is missing.
    details.sort(key=lambda each: each["type"] != "extra_forbidden")
    fields = [_field_problem(model, each) for each in details]
    first, name = details[0]["type"], str(details[0]["loc"][-1])
    code = {
        "extra_forbidden": "parameter-unknown",
        "missing": "parameter-missing",
        _TOO_LONG: "query-too-long" if name == "q" else "parameter-invalid",
    }.get(first, "parameter-invalid")
    return HttpProblem(code, f"{fields[0].parameter}: {fields[0].detail}", fields, fields[0].nearest)


def _field_problem(model: type[Parameters], error: ErrorDetails) -> FieldProblem:
    name = ".".join(map(str, error["loc"]))
    if error["type"] != "extra_forbidden":
        return FieldProblem(name, error["msg"].removeprefix("Value error, "))
    owner = model.owner(error["loc"])
    near = nearest(str(error["loc"][-1]), owner.model_fields)
    return FieldProblem(name, "there is no such parameter", near or sorted(owner.model_fields))


def nearest(name: str, known: Iterable[str]) -> Sequence[str]:
    """Return the known names that are most like a name, the likest first."""
    found = process.extract(name[:200], list(known), limit=_MOST_NEAREST, score_cutoff=_LEAST_LIKENESS)
    return [each for each, _, _ in found]
