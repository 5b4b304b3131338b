"""The loop a language model runs in, as a Graphviz drawing with one model's numbers."""

from __future__ import annotations

from tiedviz.charts.palette import INPUT, LIVE, OTHER, OUTPUT, SHARED


def loop_diagram(*, rows: str, width: str, blocks: str, tied: bool, upright: bool = False) -> str:
    """DOT source: text in, one table (or two), blocks, logits, the next token, and back.

    Args:
        rows: V, as it should be printed.
        width: d.
        blocks: L.
        tied: whether one table stands at both ends.
        upright: whether it runs from top to bottom, to fit a narrow column.
    """
    read, score = (SHARED, SHARED) if tied else (INPUT, OUTPUT)
    table = "E" if tied else "W"
    bond = (
        f'embed -> score [dir=none, style=dashed, color="{SHARED}", fontcolor="{SHARED}",'
        ' label="the same matrix", constraint=false];'
        if tied
        else ""
    )
    return f"""digraph {{
  rankdir={"TB" if upright else "LR"}; bgcolor=transparent; nodesep=0.35; ranksep=0.3;
  node [shape=box, style="rounded", fontname="sans-serif", fontsize=12,
        color="{OTHER}", fontcolor="{OTHER}", penwidth=1.4];
  edge [color="{OTHER}", fontcolor="{OTHER}", fontname="sans-serif", fontsize=11, arrowsize=0.7];
  ids [label="token ids"];
  embed [label="row of E\\n{rows} × {width}", color="{read}", fontcolor="{read}"];
  blocks [label="{blocks} blocks\\nwidth {width} throughout"];
  h [label="h_L\\n{width} numbers", color="{LIVE}", fontcolor="{LIVE}"];
  score [label="h_L · every row of {table}\\n{rows} logits", color="{score}", fontcolor="{score}"];
  next [label="softmax, next token"];
  ids -> embed -> blocks -> h -> score -> next;
  next -> ids [label="append, and again", constraint=false];
  {bond}
}}"""
