"""A project's log of who changed what, read by boto3 as by any other script. Prints what it found as JSON."""

import datetime
import json
import sys
import time

import boto3
from botocore.exceptions import ClientError

bucket = sys.argv[1]
s3 = boto3.client("s3")
cloudtrail = boto3.client("cloudtrail")
s3.put_bucket_tagging(Bucket=bucket, Tagging={"TagSet": [{"Key": "team", "Value": "a"}]})
s3.delete_bucket_tagging(Bucket=bucket)
mine = [{"AttributeKey": "ResourceName", "AttributeValue": bucket}]


def events(**more):
    pages = cloudtrail.get_paginator("lookup_events").paginate(LookupAttributes=mine, **more)
    return [event for page in pages for event in page["Events"]]


def refusal(**parameters):
    try:
        cloudtrail.lookup_events(**parameters)
    except ClientError as error:
        return [error.response["Error"]["Code"], error.response["ResponseMetadata"]["HTTPStatusCode"]]
    return "no error"


# Records are written within a second.
for _ in range(300):
    if len(events()) == 3:
        break
    time.sleep(0.1)

now = datetime.datetime.now(datetime.timezone.utc)
found = events(StartTime=now - datetime.timedelta(hours=1), EndTime=now, PaginationConfig={"PageSize": 1})
print(
    json.dumps(
        {
            "names": [event["EventName"] for event in found],
            "time": abs((now - found[0]["EventTime"]).total_seconds()) < 3600,
            "resources": found[0]["Resources"],
            "record": json.loads(found[0]["CloudTrailEvent"])["eventName"],
            "by": found[0]["Username"],
            "before": len(events(EndTime=now - datetime.timedelta(hours=1))),
            "range": refusal(StartTime=now, EndTime=now - datetime.timedelta(hours=1)),
            "attribute": refusal(LookupAttributes=mine * 2),
            "token": refusal(NextToken="forged"),
            "results": refusal(MaxResults=51),
        }
    )
)
