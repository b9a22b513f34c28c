"""What a secret's manifest holds goes, whatever it is called; what stands beside it stays."""

from iai_mcp.domain.redaction import redact

MAP = """\
apiVersion: v1
kind: ConfigMap
data:
  mode: c2FmZSBtb2RlIGlzIG9u
"""
SECRET = """\
apiVersion: v1
kind: Secret
metadata:
  name: app
type: Opaque
data:
  anything: aHVudGVyMjI=
  "quoted": "c3dvcmRmaXNo"
"""
CLEANED = SECRET.replace("aHVudGVyMjI=", "[secret:kubernetes-secret]").replace(
    "c3dvcmRmaXNo", "[secret:kubernetes-secret]"
)


def indented(text: str, by: str) -> str:
    first, *others = text.splitlines(keepends=True)
    return f"{by}- {first}" + "".join(f"{by}  {line}" for line in others)


def test_only_the_secret_among_several_documents_is_emptied() -> None:
    assert redact(f"{MAP}---\n{SECRET}---\n{MAP}").text == f"{MAP}---\n{CLEANED}---\n{MAP}"


def test_only_the_secret_in_a_list_is_emptied() -> None:
    listed = (
        "items:\n" + indented(MAP, "") + indented(SECRET, "") + indented(MAP, "") + "kind: List\n"
    )
    kept = (
        "items:\n" + indented(MAP, "") + indented(CLEANED, "") + indented(MAP, "") + "kind: List\n"
    )
    assert redact(listed).text == kept


def test_data_above_the_kind_is_emptied_too() -> None:
    turned = "data:\n  a: aHVudGVyMjI=\nkind: Secret\nmetadata:\n  name: x\n"
    assert "aHVudGVyMjI=" not in redact(turned).text
    assert "name: x" in redact(turned).text


def test_every_line_of_a_long_value_goes() -> None:
    long = "kind: Secret\nstringData:\n  a.conf: |\n    user ann\n    word swordfish\n  b: c2\ntype: Opaque\n"
    cleaned = redact(long).text
    assert "swordfish" not in cleaned
    assert "ann" not in cleaned
    assert cleaned.endswith("type: Opaque\n")


def test_json_says_its_kind_before_or_after() -> None:
    before = '{"kind": "Secret", "data": {"a": "aHVudGVyMjI="}}'
    after = '{"data": {"a": "aHVudGVyMjI="}, "kind": "Secret"}'
    both = '[{"data": {"a": "c2FmZQ=="}, "kind": "ConfigMap"}, ' + after + "]"
    assert redact(before).text == before.replace("aHVudGVyMjI=", "[secret:kubernetes-secret]")
    assert redact(after).text == after.replace("aHVudGVyMjI=", "[secret:kubernetes-secret]")
    assert redact(both).text == both.replace("aHVudGVyMjI=", "[secret:kubernetes-secret]")


def test_what_merely_refers_to_a_secret_stays() -> None:
    reference = (
        "valuesFrom:\n  - kind: Secret\n    name: app\ndata:\n  mode: c2FmZSBtb2RlIGlzIG9u\n"
    )
    assert redact(reference).text == reference
