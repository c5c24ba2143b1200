"""Write a fitted SelectiveClassifier as an ONNX model, with skl2onnx and onnx."""

import numpy as np
from onnx import TensorProto, checker
from onnx.helper import make_node, make_tensor, make_tensor_value_info
from skl2onnx import to_onnx

from sklearn_reject.selection import RejectionRule

# ONNX computes in single precision: scores this close to each other are one score.
TOLERANCE = 1e-5


def selective_to_onnx(selective, X):
    """Return an ONNX model of a classifier and of what it rejects.

    Parameters
    ----------
    selective : SelectiveClassifier
        Fitted with the conditional risk as its score, one threshold, and
        ``randomize=False``.

    X : ndarray of shape (n_samples, n_features), dtype float32
        A sample, which gives the type of the input.

    Returns
    -------
    model : onnx.ModelProto
        Its outputs are the "decision" of `predict`, the "uncertainty", and whether a
        sample is "accepted".
    """
    cut = _cut_of(selective)
    options = {"zipmap": False}
    model = to_onnx(selective.estimator_, X[:1], options=options, target_opset=18)
    label, probabilities = model.graph.output
    kind = label.type.tensor_type.elem_type
    rejected = selective.reject_label_
    if kind == TensorProto.STRING:
        rejected = rejected.encode()
    model.graph.initializer.extend(
        [
            make_tensor("classes_axis", TensorProto.INT64, [1], [1]),
            make_tensor("flat", TensorProto.INT64, [1], [-1]),
            make_tensor("one", TensorProto.FLOAT, [1], [1.0]),
            make_tensor("cut", TensorProto.FLOAT, [1], [cut]),
            make_tensor("rejected", kind, [1], [rejected]),
        ]
    )
    model.graph.node.extend(
        [
            make_node("Reshape", [label.name, "flat"], ["flat_label"]),
            make_node(
                "ReduceMax",
                [probabilities.name, "classes_axis"],
                ["largest"],
                keepdims=0,
            ),
            make_node("Sub", ["one", "largest"], ["uncertainty"]),
            make_node("Less", ["uncertainty", "cut"], ["accepted"]),
            make_node("Where", ["accepted", "flat_label", "rejected"], ["decision"]),
        ]
    )
    del model.graph.output[:]
    kinds = {
        "decision": kind,
        "uncertainty": TensorProto.FLOAT,
        "accepted": TensorProto.BOOL,
    }
    model.graph.output.extend(
        make_tensor_value_info(name, kind, [None]) for name, kind in kinds.items()
    )
    checker.check_model(model)
    return model


def _cut_of(selective):
    """Return the number below which a score is accepted."""
    asked = selective.uncertainty_score, selective.loss
    is_risk = asked in [("auto", "zero_one"), ("conditional_risk", "zero_one")]
    if not is_risk or not hasattr(selective.estimator_, "predict_proba"):
        raise ValueError("Only the conditional risk of the 0/1 loss can be exported.")
    rule = selective.rule_
    if type(rule) is not RejectionRule:
        raise ValueError("Only a rule of one threshold can be exported.")
    if rule.proba_at_threshold not in (0.0, 1.0):
        raise ValueError("ONNX cannot draw: fit with randomize=False.")
    if 0 < rule.threshold < 10 * TOLERANCE:
        raise ValueError("The threshold is too small for single precision.")
    # Scores at the threshold go together to the side that the rule puts them on.
    side = 1 if rule.proba_at_threshold == 1 else -1
    return np.float32(rule.threshold + side * TOLERANCE)
