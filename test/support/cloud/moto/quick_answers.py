"""Has moto's server answer as it does, with a fraction of its processor time.

moto finds the methods of a class and its own folders anew for each request, writes each into a log, and looks at every member of every shape for each attribute
of an item. Werkzeug starts a thread for each request, since it keeps no connection open. Here, calls of DynamoDB and of its streams go from the
connection to moto's handlers, without Flask, and the connection stays open.
"""

import base64
import functools
import io

from moto.core import responses
from moto.core.serialize import BaseJSONSerializer
from moto.dynamodb.responses import DynamoHandler
from moto.dynamodbstreams.responses import DynamoDBStreamsHandler
from moto.moto_server.werkzeug_app import DomainDispatcherApplication
from werkzeug.serving import WSGIRequestHandler
from werkzeug.wrappers import Request

handlers = {"DynamoDB_20120810": DynamoHandler, "DynamoDBStreams_20120810": DynamoDBStreamsHandler}


def answer_request(connection):
    """Answers a call of DynamoDB; leaves the others to Werkzeug and Flask."""
    handler = handlers.get(connection.headers.get("x-amz-target", "").split(".")[0])
    length = connection.headers.get("content-length")
    if handler is None or length is None:
        return run_wsgi(connection)
    body = connection.rfile.read(int(length))
    request = Request({**connection.make_environ(), "wsgi.input": io.BytesIO(body)})
    try:
        status, headers, answer = handler.dispatch(request, request.url, dict(request.headers))
    except Exception as error:
        connection.server.log("error", f"{type(error).__name__}: {error}")
        status, headers, answer = 500, {}, "{}"
    content = answer.encode() if isinstance(answer, str) else answer
    connection.send_response(status)
    for name, value in headers.items():
        if name.lower() not in ("content-length", "date", "server", "status"):
            connection.send_header(name, value)
    connection.send_header("Content-Length", str(len(content)))
    connection.end_headers()
    connection.wfile.write(content)


def serialize_structure(serializer, serialized, value, shape, key):
    if shape.name == "AttributeValue" and isinstance(value, dict):
        serialized[key] = attribute(value)
    else:
        serialize_any_structure(serializer, serialized, value, shape, key)


def attribute(value):
    """The JSON of an attribute: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_AttributeValue.html"""
    return {kind: content(kind, inner) for kind, inner in value.items() if inner is not None}


def content(kind, inner):
    if kind == "M":
        return {name: attribute(member) for name, member in inner.items()}
    if kind == "L":
        return [attribute(member) for member in inner]
    if kind == "B":
        return encoded(inner)
    if kind == "BS":
        return [encoded(member) for member in inner]
    return inner


def encoded(value):
    return base64.b64encode(value.encode() if isinstance(value, str) else value).decode()


run_wsgi = WSGIRequestHandler.run_wsgi
WSGIRequestHandler.run_wsgi = answer_request
WSGIRequestHandler.log_request = lambda *_: None
# Headers and body are two writes: on a connection that stays open, the second would wait until the client has acknowledged the first.
WSGIRequestHandler.disable_nagle_algorithm = True
serialize_any_structure = BaseJSONSerializer._serialize_type_structure
BaseJSONSerializer._serialize_type_structure = serialize_structure
DomainDispatcherApplication.get_backend_for_host = functools.cache(DomainDispatcherApplication.get_backend_for_host)
responses.method_names_from_class = functools.cache(responses.method_names_from_class)
