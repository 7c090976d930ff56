"""Which classes a model file may name: this list, and no other."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from importlib import import_module

import numpy as np

from demurk.io._archive import Damaged
from demurk.io._checks import FORESTS, TREES
from demurk.registry import METHODS

__all__ = [
    "PLAIN_TYPES",
    "SCALARS",
    "SPARSE",
    "TREE",
    "ForeignType",
    "NotAClass",
    "find_class",
]

# What the fitted estimators of the registry hold besides arrays, and each other.
HELPERS = {
    "demurk.annotators._annotations.Annotations",
    "demurk.audit._classes.ClassFindings",
    "demurk.audit._suspects.Evidence",
    "demurk.datasets._table_features.Column",
    "demurk.datasets._table_features.TableFeatures",
    "demurk.labels._data.LabelData",
    "demurk.labels._form.LabelForm",
    "demurk.multilabel._murky_linear.SparseLogistic",
    "demurk.multilabel._murky_members.OwnMember",
    "demurk.out_of_sample._class_noise.ClassNoise",
    "demurk.out_of_sample._features.FeatureViews",
    "demurk.out_of_sample._forest.OutOfSampleForest",
    "demurk.out_of_sample._kernel_ridge.LeaveOneOutKernelRidge",
    "demurk.out_of_sample._trees.StrippedTrees",
}
# Of scikit-learn, the classes that only compute with numpy, and those whose arrays are
# checked (`_checks`). Not among them: what hands unchecked indices from its state to
# compiled code (OneHotEncoder, CountVectorizer, nearest neighbours, histogram trees).
SKLEARN = {
    f"sklearn.{module}.{name}"
    for module, names in {
        "compose._column_transformer": ["ColumnTransformer"],
        "decomposition._factor_analysis": ["FactorAnalysis"],
        "decomposition._incremental_pca": ["IncrementalPCA"],
        "decomposition._kernel_pca": ["KernelPCA"],
        "decomposition._pca": ["PCA"],
        "decomposition._truncated_svd": ["TruncatedSVD"],
        "discriminant_analysis": ["LinearDiscriminantAnalysis"],
        "dummy": ["DummyClassifier", "DummyRegressor"],
        "ensemble._forest": FORESTS,
        "feature_selection._variance_threshold": ["VarianceThreshold"],
        "impute._base": ["MissingIndicator", "SimpleImputer"],
        "kernel_approximation": ["Nystroem", "RBFSampler"],
        "linear_model._base": ["LinearRegression"],
        "linear_model._coordinate_descent": ["ElasticNet", "Lasso"],
        "linear_model._logistic": ["LogisticRegression", "LogisticRegressionCV"],
        "linear_model._ridge": [
            "Ridge",
            "RidgeCV",
            "RidgeClassifier",
            "RidgeClassifierCV",
        ],
        "multiclass": ["OneVsRestClassifier"],
        "multioutput": [
            "ClassifierChain",
            "MultiOutputClassifier",
            "MultiOutputRegressor",
        ],
        "naive_bayes": ["BernoulliNB", "GaussianNB", "MultinomialNB"],
        "pipeline": ["FeatureUnion", "Pipeline"],
        "preprocessing._data": [
            *("Binarizer", "KernelCenterer", "MaxAbsScaler", "MinMaxScaler"),
            *("Normalizer", "PowerTransformer", "QuantileTransformer"),
            *("RobustScaler", "StandardScaler"),
        ],
        "preprocessing._encoders": ["OrdinalEncoder"],
        "preprocessing._function_transformer": ["FunctionTransformer"],
        "preprocessing._label": ["LabelBinarizer", "LabelEncoder"],
        "random_projection": ["GaussianRandomProjection", "SparseRandomProjection"],
        "svm._classes": ["LinearSVC", "SVC"],
        "tree._classes": TREES,
    }.items()
    for name in names
}
# Each of these has its own way of being built, and is accepted in no other.
TREE = "sklearn.tree._tree.Tree"
SPARSE = {"scipy.sparse._csr.csr_array", "scipy.sparse._csr.csr_matrix"}
SCALARS = {
    f"numpy.{kind.__name__}": kind
    for kind in (
        *(np.bool_, np.str_, np.datetime64, np.timedelta64),
        *(np.int8, np.int16, np.int32, np.int64),
        *(np.uint8, np.uint16, np.uint32, np.uint64),
        *(np.float16, np.float32, np.float64, np.complex64, np.complex128),
    )
}
# Types that are values themselves: of the keys of a dict, or a dtype parameter.
PLAIN_TYPES = {
    "builtins.bool": bool,
    "builtins.float": float,
    "builtins.int": int,
    "builtins.str": str,
    **SCALARS,
}


class ForeignType(Damaged):
    """A model file names a class that is not on the list."""

    def __init__(self, name):
        self.name = name if len(name) < 200 and name.isprintable() else ascii(name[:99])
        super().__init__(f"it names {self.name}, which is never built")


class NotAClass(ForeignType):
    """A model file names a function, a method or a module: trusting it is no remedy."""


def find_class(module, name, trusted=frozenset()):
    """Return the class of that name; nothing is imported before the name is known.

    Parameters
    ----------
    module, name : str
        Where the class is defined, and its name there.
    trusted : collection of str
        Full names that the user trusts.

    Returns
    -------
    found : type
        The class.
    """
    full = f"{module}.{name}"
    if not (full in HELPERS | SKLEARN or full in trusted or _in_registry(module, name)):
        raise ForeignType(full)
    found = getattr(import_module(module), name, None)
    # Also what the user trusts must be a class, defined there under this name: a class
    # that a module merely imports goes by another, and functions are never trusted.
    if not isinstance(found, type) or (found.__module__, found.__name__) != (
        module,
        name,
    ):
        raise NotAClass(full)
    return found


def _in_registry(module, name):
    """Whether an estimator of the registry is defined in `module`."""
    return any(
        method.name == name
        and module.startswith(f"demurk.{method.room}._")
        and method.load().__module__ == module
        for method in METHODS
    )
