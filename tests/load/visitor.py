"""A visitor without a browser: Streamlit's own websocket protocol, and what stands on the page.

A browser sends BackMsg.rerun_script (the link, the page, the state of every widget) and gets
ForwardMsg deltas, each with its place on the page, until script_finished. This does the same.
"""

from __future__ import annotations

import time
from contextlib import ExitStack
from urllib.parse import urlencode

import pandas as pd
import pyarrow as pa
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.sync.client import connect

_WHOLE_RUN_ENDED = (
    ForwardMsg.FINISHED_SUCCESSFULLY,
    ForwardMsg.FINISHED_WITH_COMPILE_ERROR,
)


class Visitor:
    """One session on a running server.

    Attributes:
        elements: what stands on the page after the last whole run, by its place.
    """

    def __init__(self, base: str, patience: float = 60) -> None:
        address = base.replace("http", "ws") + "/_stcore/stream"
        self._open = ExitStack()
        self._socket = self._open.enter_context(
            connect(address, subprotocols=["streamlit"], max_size=None)
        )
        self._patience = patience
        self._page, self._link = "", ""
        self._typed: dict[str, WidgetState] = {}
        self.elements: dict[tuple[int, ...], Element] = {}

    def close(self) -> None:
        self._open.close()

    def visit(self, page: str, **parameters: str) -> None:
        """Go to a page of the same session, with these parameters in the address bar.

        A new session begins with a new visitor. What was typed stays, whatever the address says.
        """
        self._page, self._link = page, urlencode(parameters)
        self.rerun()

    def type(self, label: str, text: str) -> None:
        """Type `text` into the text input with this label."""
        box = next(each for each in self.inputs() if each.label == label)
        self._typed[box.id] = WidgetState(id=box.id, string_value=text)
        self.rerun()

    def press(self, label: str) -> bool:
        """Press the last button with this label, if it is there and alive. Whether it was."""
        buttons = [each for each in self._all("button") if each.label == label]
        if not buttons or buttons[-1].disabled:
            return False
        self.rerun(WidgetState(id=buttons[-1].id, trigger_value=True))
        return True

    def rerun(self, trigger: WidgetState | None = None) -> None:
        """Run the page again and take in what it draws."""
        message = BackMsg()
        message.rerun_script.query_string = self._link
        message.rerun_script.page_name = self._page
        message.rerun_script.widget_states.widgets.extend(self._typed.values())
        if trigger is not None:
            message.rerun_script.widget_states.widgets.append(trigger)
        self._socket.send(message.SerializeToString())
        self._read_until_drawn()

    def _read_until_drawn(self) -> None:
        drawn: dict[tuple[int, ...], Element] = {}
        until = time.monotonic() + self._patience
        while True:
            data = self._socket.recv(timeout=until - time.monotonic())
            message = ForwardMsg.FromString(data)  # type: ignore[arg-type]
            kind = message.WhichOneof("type")
            if kind == "new_session":
                drawn = {}
            elif kind == "delta":
                place = tuple(message.metadata.delta_path)
                if message.delta.WhichOneof("type") == "new_element":
                    drawn[place] = message.delta.new_element
                else:  # a block in the place of what stood there
                    drawn.pop(place, None)
            elif kind == "script_finished" and message.script_finished in _WHOLE_RUN_ENDED:
                self.elements = drawn
                # as a browser does: what is not drawn is forgotten, what the server sets is taken
                kept = {box.id for box in self.inputs() if not box.set_value}
                self._typed = {id: state for id, state in self._typed.items() if id in kept}
                return

    def _all(self, kind: str) -> list:
        ordered = (self.elements[place] for place in sorted(self.elements))
        return [getattr(each, kind) for each in ordered if each.WhichOneof("type") == kind]

    @property
    def text(self) -> str:
        """Everything the page says, Markdown escapes taken out."""
        said = [each.body for kind in ("markdown", "heading", "alert") for each in self._all(kind)]
        return "\n".join(said).replace("\\", "")

    @property
    def exceptions(self) -> list[str]:
        """Every traceback on the page."""
        return [f"{each.type}: {each.message}" for each in self._all("exception")]

    def inputs(self) -> list:
        """The text inputs on the page, in order."""
        return self._all("text_input")

    @property
    def prompt(self) -> str:
        """What stands in the box for the prompt."""
        [box] = [each for each in self.inputs() if each.label == "Prompt"]
        return box.value if box.set_value else self._typed_into(box)

    def _typed_into(self, box) -> str:
        return self._typed[box.id].string_value if box.id in self._typed else box.default

    def tables(self) -> list[pd.DataFrame]:
        """The data frames on the page, in order."""
        return [
            pa.ipc.open_stream(each.arrow_data.data).read_all().to_pandas()
            for each in self._all("dataframe")
        ]
