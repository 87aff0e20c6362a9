# Validates YAML files by a JSON Schema as an editor would. python3 schema.py SCHEMA FILE...: prints each mistake as
# FILE:PATH: MESSAGE and exits with 1 if there is one. Numbers and truths are those of YAML 1.2.
import json
import re
import sys

import jsonschema
import yaml


class Loader(yaml.SafeLoader):
    pass


Loader.yaml_implicit_resolvers = {}
for tag, pattern, first in [
    ("bool", "true|false", "tf"),
    ("int", "[-+]?[0-9]+", "-+0123456789"),
    ("float", r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?", "-+.0123456789"),
    ("null", "~|null|", ["~", "n", ""]),
]:
    Loader.add_implicit_resolver("tag:yaml.org,2002:" + tag, re.compile("^(?:%s)$" % pattern), list(first))
Loader.add_constructor("tag:yaml.org,2002:float", lambda loader, node: float(node.value))
Loader.add_constructor("tag:yaml.org,2002:int", lambda loader, node: int(node.value))

with open(sys.argv[1]) as file:
    schema = json.load(file)
jsonschema.Draft7Validator.check_schema(schema)
validator = jsonschema.Draft7Validator(schema)
bad = 0
for name in sys.argv[2:]:
    try:
        with open(name) as file:
            tree = yaml.load(file, Loader)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        bad = 1
        print("%s:: %s" % (name, " ".join(str(error).split())))
        continue
    for error in validator.iter_errors(tree):
        bad = 1
        deepest = jsonschema.exceptions.best_match([error])
        print("%s:%s: %s" % (name, ".".join(map(str, deepest.absolute_path)), deepest.message[:200]))
sys.exit(bad)
