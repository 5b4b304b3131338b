import urllib.request

import pytest

pytestmark = pytest.mark.browser


def test_answers_say_whom_a_page_may_ask_and_who_may_frame_it(server):
    for path in ("/", "/layers", "/_stcore/health"):
        headers = urllib.request.urlopen(server.base + path).headers
        assert "frame-ancestors 'self'" in headers["Content-Security-Policy"]
        assert "default-src 'self'" in headers["Content-Security-Policy"]
        assert headers["X-Content-Type-Options"] == "nosniff"
