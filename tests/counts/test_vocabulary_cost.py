import pytest

from tiedviz.compute.counts import vocabulary_cost

EXAMPLES = [
    (50_000, 768, 12, 38_400_000),
    (50_000, 4_096, 32, 204_800_000),
    (32_000, 1_024, 24, 32_768_000),
]


@pytest.mark.parametrize(("V", "d", "layers", "table"), EXAMPLES)
def test_the_table_and_both_ways_of_building_on_it(V, d, layers, table):
    cost = vocabulary_cost(V, d, layers)
    assert cost.table == table
    assert cost.untied - cost.tied == table
    assert cost.tied == table + layers * 12 * d * d
    assert cost.share_tied == table / cost.tied
    assert cost.share_untied == 2 * table / cost.untied
    assert cost.product_operations == 2 * table


def test_bytes_by_how_numbers_are_stored():
    sizes = {
        dtype: vocabulary_cost(50_000, 768, 12, dtype).table_bytes
        for dtype in ("float32", "bfloat16", "int8", "4-bit")
    }
    assert sizes == {
        "float32": 153_600_000,
        "bfloat16": 76_800_000,
        "int8": 38_400_000,
        "4-bit": 19_200_000,
    }


def test_how_many_layers_the_saving_buys():
    assert round(vocabulary_cost(50_000, 768, 12).extra_layers, 2) == 5.43  # V / (12·d)
    assert round(vocabulary_cost(50_000, 4_096, 32).extra_layers, 2) == 1.02


def test_a_large_model_gains_proportionally_less():
    small, large = vocabulary_cost(50_000, 768, 12), vocabulary_cost(50_000, 4_096, 32)
    assert large.table > small.table
    assert round(small.saving * 100, 1) == 23.7 and round(large.saving * 100, 1) == 3.0
    for cost in (small, large):
        assert cost.saving == pytest.approx(1 / (2 + 12 * cost.layers * cost.d / cost.V))


def test_tables_alone():
    assert vocabulary_cost(4, 3, 0).share_tied == 1.0


@pytest.mark.parametrize("sizes", [(0, 1, 1), (1, 0, 1), (1, 1, -1)])
def test_sizes_below_one_are_refused_with_all_three(sizes):
    with pytest.raises(ValueError, match=f"V={sizes[0]}, d={sizes[1]}, layers={sizes[2]}"):
        vocabulary_cost(*sizes)
