"""A session of boto3 with its default settings. Prints, as JSON, what became of each step: "ok" or what went wrong."""

import hashlib
import io
import json
import os
import ssl
import sys
import traceback
import urllib.error
import urllib.request

import boto3
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import ClientError

MIB = 1024 * 1024
bucket = sys.argv[1]
big = int(sys.argv[2]) * MIB
style = sys.argv[3]
# boto3 keeps the case of metadata names, which some proxies change.
colour = sys.argv[4]

config = Config(s3={"addressing_style": "virtual"}) if style == "host name" else None
s3 = boto3.client("s3", config=config)
s3v2 = boto3.client("s3", config=Config(signature_version="s3", s3=config.s3 if config else None))
s3v4 = boto3.client("s3", config=Config(signature_version="s3v4", s3=config.s3 if config else None))


def content_of(key, **parameters):
    return s3.get_object(Bucket=bucket, Key=key, **parameters)["Body"].read()


def refusal(call, **parameters):
    try:
        call(Bucket=bucket, **parameters)
    except ClientError as error:
        return error.response["Error"]["Code"]
    return "no error"


def fetch(url, method="GET", body=None, headers={}):
    request = urllib.request.Request(url, data=body, method=method, headers=headers)
    context = ssl.create_default_context(cafile=os.environ["AWS_CA_BUNDLE"])
    with urllib.request.urlopen(request, context=context) as response:
        return response.read()


def create_bucket():
    s3.create_bucket(Bucket=bucket)
    s3.get_waiter("bucket_exists").wait(Bucket=bucket)
    assert bucket in [each["Name"] for each in s3.list_buckets()["Buckets"]]


def put_bytes():
    body = os.urandom(1000)
    put = s3.put_object(Bucket=bucket, Key="bytes", Body=body, Metadata={"colour": "blue"})
    assert put["ETag"] == f'"{hashlib.md5(body).hexdigest()}"'
    assert put["ChecksumCRC32"], "the SDK adds a CRC32 by default"
    assert content_of("bytes") == body


def put_stream():
    body = os.urandom(100_000)
    s3.put_object(Bucket=bucket, Key="stream", Body=io.BytesIO(body))
    assert content_of("stream") == body


def put_empty():
    s3.put_object(Bucket=bucket, Key="dir/")
    assert content_of("dir/") == b""
    assert s3.head_object(Bucket=bucket, Key="dir/")["ContentLength"] == 0


def get_ranges():
    body = bytes(range(256))
    s3.put_object(Bucket=bucket, Key="ranges", Body=body)
    assert content_of("ranges", Range="bytes=10-19") == body[10:20]
    assert content_of("ranges", Range="bytes=250-") == body[250:]
    assert content_of("ranges", Range="bytes=-6") == body[250:]
    assert refusal(s3.get_object, Key="ranges", Range="bytes=256-") == "InvalidRange"


def head():
    headed = s3.head_object(Bucket=bucket, Key="bytes", ChecksumMode="ENABLED")
    assert headed["Metadata"] == {colour: "blue"}
    assert headed["ContentLength"] == 1000 and headed["LastModified"] and headed["ChecksumCRC32"]
    assert refusal(s3.head_object, Key="none") == "404"
    try:
        content_of("none")
    except s3.exceptions.NoSuchKey:
        return
    raise AssertionError("no NoSuchKey")


def list_objects():
    keys = ["list/a b+c", "list/é/1", "list/é/2", "list/&<>\"'"]
    for key in keys:
        s3.put_object(Bucket=bucket, Key=key, Body=key.encode())
    for name in "list_objects", "list_objects_v2":
        pages = s3.get_paginator(name).paginate(Bucket=bucket, Prefix="list/", Delimiter="/", PaginationConfig={"PageSize": 1})
        pages = list(pages)
        found = [each["Key"] for page in pages for each in page.get("Contents", [])]
        prefixes = [each["Prefix"] for page in pages for each in page.get("CommonPrefixes", [])]
        assert len(pages) == 3 and found == sorted(k for k in keys if "é" not in k) and prefixes == ["list/é/"], (found, prefixes)


def awkward_keys():
    """Keys that a client, or a proxy that tidies up paths, may change, in every request that names them."""
    keys = ["a//b", "/a", "a/", "a%2Fb", "%", "a+b c&d=e?f#g", "日本/ü", "(a)!*'~;:@$,", "a\\b", "%00", "a%20b", "a  b"]
    for key in keys:
        where = {"Bucket": bucket, "Key": f"awkward/{key}"}
        body = key.encode()
        s3.put_object(**where, Body=body)
        assert content_of(where["Key"]) == body, key
        assert content_of(where["Key"], Range="bytes=0-0") == body[:1], key
        assert s3.head_object(**where)["ContentLength"] == len(body), key
        s3.copy_object(Bucket=bucket, Key=f"copied/{key}", CopySource=where)
        assert content_of(f"copied/{key}") == body, key
        s3.put_object_tagging(**where, Tagging={"TagSet": [{"Key": "a", "Value": "b"}]})
        for client in s3, s3v4:
            assert fetch(client.generate_presigned_url("get_object", where)) == body, key
            fetch(client.generate_presigned_url("put_object", {**where, "ContentType": "a/b"}), "PUT", body, {"Content-Type": "a/b"})
    for prefix in "awkward/", "copied/":
        found = [each["Key"] for each in s3.list_objects_v2(Bucket=bucket, Prefix=prefix)["Contents"]]
        assert sorted(found) == sorted(prefix + key for key in keys), found
    gone = s3.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": f"copied/{key}"} for key in keys]})
    assert len(gone["Deleted"]) == len(keys), gone
    for key in keys:
        s3.delete_object(Bucket=bucket, Key=f"awkward/{key}")
        assert refusal(s3.head_object, Key=f"awkward/{key}") == "404", key


def conditions():
    s3.put_object(Bucket=bucket, Key="lock", Body=b"1", IfNoneMatch="*")
    assert refusal(s3.put_object, Key="lock", Body=b"2", IfNoneMatch="*") == "PreconditionFailed"
    etag = s3.head_object(Bucket=bucket, Key="lock")["ETag"]
    s3.put_object(Bucket=bucket, Key="lock", Body=b"3", IfMatch=etag)
    assert refusal(s3.put_object, Key="lock", Body=b"4", IfMatch=etag) == "PreconditionFailed"
    assert content_of("lock") == b"3"


def checksums():
    for algorithm in "CRC32", "SHA1", "SHA256":
        s3.put_object(Bucket=bucket, Key="sum", Body=b"123456789", ChecksumAlgorithm=algorithm)
        assert s3.head_object(Bucket=bucket, Key="sum", ChecksumMode="ENABLED")["Checksum" + algorithm]
    assert refusal(s3.put_object, Key="sum", Body=b"123456789", ChecksumSHA256="A" * 43 + "=") == "BadDigest"


def presigned_default():
    """boto3 signs URLs of us-east-1 with version 2, unless told otherwise."""
    presigned(s3)


def presigned_v4():
    presigned(s3v4)


def presigned(client):
    where = {"Bucket": bucket, "Key": "pre signed/é+"}
    # Version 2 always signs the type of the content, and urllib always sends one.
    text = "text/plain"
    fetch(client.generate_presigned_url("put_object", {**where, "ContentType": text}), "PUT", b"presigned", {"Content-Type": text})
    assert fetch(client.generate_presigned_url("get_object", where)) == b"presigned"
    try:
        fetch(client.generate_presigned_url("get_object", where).replace("pre", "post", 1))
    except urllib.error.HTTPError as error:
        assert error.code == 403, error.code
    else:
        raise AssertionError("a URL was good for another key")


def headers_v2():
    """Version 2 in the header, sub-resources and copies included."""
    where = {"Bucket": bucket, "Key": "version 2/é+"}
    s3v2.put_object(**where, Body=io.BytesIO(b"version 2"), ContentType="text/plain", Metadata={"colour": "two  blanks"})
    assert s3v2.get_object(**where, ResponseContentDisposition='attachment; filename="é+"')["Body"].read() == b"version 2"
    assert s3v2.head_object(**where)["Metadata"] == {colour: "two  blanks"}
    s3v2.put_object_tagging(**where, Tagging={"TagSet": [{"Key": "a", "Value": "b"}]})
    assert s3v2.get_object_tagging(**where)["TagSet"] == [{"Key": "a", "Value": "b"}]
    s3v2.copy_object(Bucket=bucket, Key="version 2/copy", CopySource=where)
    settings = TransferConfig(multipart_threshold=5 * MIB, multipart_chunksize=5 * MIB)
    s3v2.upload_fileobj(io.BytesIO(bytes(6 * MIB)), bucket, "version 2/parts", Config=settings)
    listed = s3v2.list_objects_v2(Bucket=bucket, Prefix="version 2/")["Contents"]
    assert [each["Size"] for each in listed] == [9, 6 * MIB, 9], listed
    s3v2.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": each["Key"]} for each in listed]})


def transfer():
    body = os.urandom(big)
    for part in 5, 8:
        settings = TransferConfig(multipart_threshold=5 * MIB, multipart_chunksize=part * MIB)
        key = f"parts of {part} MiB"
        s3.upload_fileobj(io.BytesIO(body), bucket, key, Config=settings)
        assert s3.head_object(Bucket=bucket, Key=key)["ETag"].endswith(f'-{-(-big // (part * MIB))}"')
        back = io.BytesIO()
        s3.download_fileobj(bucket, key, back, Config=settings)
        assert hashlib.md5(back.getvalue()).digest() == hashlib.md5(body).digest()


def copy():
    body = content_of("parts of 8 MiB")
    settings = TransferConfig(multipart_threshold=5 * MIB, multipart_chunksize=5 * MIB)
    s3.copy({"Bucket": bucket, "Key": "parts of 8 MiB"}, bucket, "copy in parts", Config=settings)
    assert content_of("copy in parts") == body
    s3.copy({"Bucket": bucket, "Key": "bytes"}, bucket, "copy at once")
    assert s3.head_object(Bucket=bucket, Key="copy at once")["Metadata"] == {colour: "blue"}


def delete():
    s3.delete_object(Bucket=bucket, Key="bytes")
    assert refusal(s3.head_object, Key="bytes") == "404"
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket=bucket)
    keys = [{"Key": each["Key"]} for page in pages for each in page.get("Contents", [])]
    answer = s3.delete_objects(Bucket=bucket, Delete={"Objects": keys, "Quiet": True})
    assert "Errors" not in answer and "Deleted" not in answer
    s3.delete_bucket(Bucket=bucket)
    s3.get_waiter("bucket_not_exists").wait(Bucket=bucket)


outcomes = {}
steps = [
    create_bucket,
    put_bytes,
    put_stream,
    put_empty,
    get_ranges,
    head,
    list_objects,
    awkward_keys,
    conditions,
    checksums,
    presigned_default,
    presigned_v4,
    headers_v2,
    transfer,
    copy,
    delete,
]
for step in steps:
    try:
        step()
        outcomes[step.__name__] = "ok"
    except Exception:
        outcomes[step.__name__] = traceback.format_exc()
print(json.dumps(outcomes))
