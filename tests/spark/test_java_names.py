from __future__ import annotations

import pytest
from py4j.java_gateway import JavaPackage, JVMView  # type: ignore[import-untyped]
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture
def java(spark: SparkSession) -> JVMView:
    return spark.sparkContext._jvm


def test_a_class_of_the_jvm_and_its_methods_are_looked_up_once(java: JVMView) -> None:
    found = java.PythonUtils
    assert java.PythonUtils is found
    assert found.toSeq is found.toSeq
    assert list(java.PythonUtils.toArray(["a", "b"])) == ["a", "b"]


def test_packages_and_what_is_not_there_are_as_py4j_has_them(java: JVMView) -> None:
    assert type(java.java) is JavaPackage
    assert java.java.lang.Long.parseLong("7") == 7
    with pytest.raises(Py4JError, match="does not exist"):
        _ = java.PythonUtils.nothing_of_this_name
    # A field of a class is asked for each time: it may have another value.
    assert java.System.out is not java.System.out
