"""The table at the head of the caches names every one of them, and how many entries it may have."""

import ast
import inspect
import re

from tiedviz.ui import caches

ROWS = {
    name: bound for name, bound in re.findall(r"^\| `(.+?)` .*\| ([^|]*) \|$", caches.__doc__, re.M)
}


def cached_functions():
    """Name → the most entries, as its decorator says."""
    for node in ast.parse(inspect.getsource(caches)).body:
        for call in getattr(node, "decorator_list", []):
            if isinstance(call, ast.Call) and ast.unparse(call.func).startswith("st.cache"):
                bounds = {word.arg: ast.unparse(word.value) for word in call.keywords}
                yield node.name, bounds.get("max_entries")


def test_every_cache_stands_in_the_table_with_its_bound():
    for name, most in cached_functions():
        if most is not None:
            assert ROWS[name].split(",")[0] == most, name
    for name, most in caches._BOUNDS.items():
        assert ROWS[f'lru("{name}")'] == str(most), name


def test_a_cache_without_a_bound_holds_one_object_that_has_its_own():
    assert {name for name, most in cached_functions() if most is None} == {
        "hub_answers",
        "lru",
        "model_pool",
    }


def test_a_model_is_hashed_by_its_key_and_a_prompt_by_its_ids(tied_model, untied_model):
    from tiedviz.models.prompt import encode

    one = caches.scored_state(tied_model, encode(tied_model, "the cat sat"), 1)
    same = encode(tied_model, "the cat sat")
    assert caches.scored_state(tied_model, same, position=1, layer=-1) is one
    assert caches.scored_state(untied_model, same, 1) is not one
    assert caches.scored_state(tied_model, encode(tied_model, "the cat sat on"), 1) is not one
