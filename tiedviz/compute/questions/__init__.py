"""Questions whose answers are computed: from the toy as it was edited, and from a model's sizes."""

from tiedviz.compute.questions.models import model_questions
from tiedviz.compute.questions.steps import check_question
from tiedviz.ui.walkthrough.practice_questions import practice

__all__ = ["check_question", "model_questions", "practice"]
