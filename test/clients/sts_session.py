"""A session of boto3 with temporary keys. Prints what it found as JSON."""

import json
import os
import ssl
import sys
import urllib.request

import boto3
from botocore.exceptions import ClientError

bucket = sys.argv[1]
sts = boto3.client("sts")
made = sts.get_session_token(DurationSeconds=900)["Credentials"]
session = boto3.Session(made["AccessKeyId"], made["SecretAccessKey"], made["SessionToken"])
s3 = session.client("s3")
s3.put_object(Bucket=bucket, Key="boto3", Body=b"content")
url = s3.generate_presigned_url("get_object", Params={"Bucket": bucket, "Key": "boto3"})
form = s3.generate_presigned_post(bucket, "form")


def refusal(call, **parameters):
    try:
        call(**parameters)
    except ClientError as error:
        return [error.response["Error"]["Code"], error.response["ResponseMetadata"]["HTTPStatusCode"]]
    return "no error"


print(
    json.dumps(
        {
            "mine": sts.get_caller_identity()["Arn"],
            "its": session.client("sts").get_caller_identity()["Arn"],
            "presigned": urllib.request.urlopen(url, context=ssl.create_default_context(cafile=os.environ["AWS_CA_BUNDLE"])).read().decode(),
            "token in URL": made["SessionToken"] in url,
            "token in form": form["fields"]["x-amz-security-token"] == made["SessionToken"],
            "again": refusal(session.client("sts").get_session_token),
            "too long": refusal(sts.get_session_token, DurationSeconds=129601),
        }
    )
)
