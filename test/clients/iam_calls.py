"""The calls that Terraform's provider makes for its resources, by boto3. Prints what it found as JSON."""

import json
import uuid

import boto3
from botocore.exceptions import ClientError

iam = boto3.client("iam")
name = "tf-" + uuid.uuid4().hex[:12]
read_only = "arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess"
policy = json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:ListAllMyBuckets", "Resource": "*"}]})


def refusal(call, **parameters):
    try:
        call(**parameters)
    except ClientError as error:
        return [error.response["Error"]["Code"], error.response["ResponseMetadata"]["HTTPStatusCode"]]
    return "no error"


found = {}

# aws_iam_user
created = iam.create_user(UserName=name, Path="/tf/", Tags=[{"Key": "team", "Value": "a"}])["User"]
read = iam.get_user(UserName=name)["User"]
found["user reads back"] = all(read[key] == value for key, value in created.items())
iam.tag_user(UserName=name, Tags=[{"Key": "team", "Value": "b"}])
found["tags"] = iam.get_user(UserName=name)["User"]["Tags"]
iam.untag_user(UserName=name, TagKeys=["team"])
iam.put_user_permissions_boundary(UserName=name, PermissionsBoundary=read_only)
iam.update_user(UserName=name, NewPath="/tf/moved/")
read = iam.get_user(UserName=name)["User"]
found["user changed"] = [
    read["Path"] == "/tf/moved/" and read["Arn"] == created["Arn"].replace("/tf/", "/tf/moved/") and read["UserId"] == created["UserId"],
    read["PermissionsBoundary"]["PermissionsBoundaryArn"] == read_only,
    "Tags" in read,
]
iam.delete_user_permissions_boundary(UserName=name)
iam.update_user(UserName=name, NewPath="/tf/")

# aws_iam_user_policy
iam.put_user_policy(UserName=name, PolicyName="inline", PolicyDocument=policy)
inline = iam.get_user_policy(UserName=name, PolicyName="inline")["PolicyDocument"]
found["inline reads back"] = inline == json.loads(policy)

# aws_iam_policy, aws_iam_user_policy_attachment
created_policy = iam.create_policy(PolicyName=name, Path="/tf/", Description="d", PolicyDocument=policy, Tags=[{"Key": "team", "Value": "a"}])["Policy"]
arn = created_policy["Arn"]
read = iam.get_policy(PolicyArn=arn)["Policy"]
found["policy's fields"] = all(read[key] == value for key, value in created_policy.items()) and read["Description"] == "d" and read["Path"] == "/tf/"
found["policy's tags"] = iam.list_policy_tags(PolicyArn=arn)["Tags"]
other = policy.replace("ListAllMyBuckets", "GetObject")
iam.create_policy_version(PolicyArn=arn, PolicyDocument=other, SetAsDefault=True)
found["changed to"] = iam.get_policy(PolicyArn=arn)["Policy"]["DefaultVersionId"]
found["new version reads back"] = iam.get_policy_version(PolicyArn=arn, VersionId="v2")["PolicyVersion"]["Document"] == json.loads(other)
iam.set_default_policy_version(PolicyArn=arn, VersionId="v1")
iam.delete_policy_version(PolicyArn=arn, VersionId="v2")
found["versions"] = [one["VersionId"] for one in iam.list_policy_versions(PolicyArn=arn)["Versions"]]
document = iam.get_policy_version(PolicyArn=arn, VersionId="v1")["PolicyVersion"]["Document"]
found["policy reads back"] = document == json.loads(policy)
iam.attach_user_policy(UserName=name, PolicyArn=arn)
found["attached"] = [one["PolicyArn"] == arn for one in iam.list_attached_user_policies(UserName=name)["AttachedPolicies"]]

# aws_iam_group, aws_iam_group_policy, aws_iam_group_policy_attachment, aws_iam_user_group_membership
group = iam.create_group(GroupName=name, Path="/tf/")["Group"]
found["group reads back"] = iam.get_group(GroupName=name)["Group"] == group and group["Path"] == "/tf/"
iam.update_group(GroupName=name, NewPath="/tf/moved/")
moved = iam.get_group(GroupName=name)["Group"]
found["group changed"] = moved["Path"] == "/tf/moved/" and moved["GroupId"] == group["GroupId"]
iam.put_group_policy(GroupName=name, PolicyName="inline", PolicyDocument=policy)
found["group's policy reads back"] = iam.get_group_policy(GroupName=name, PolicyName="inline")["PolicyDocument"] == json.loads(policy)
iam.attach_group_policy(GroupName=name, PolicyArn=read_only)
found["group's attached"] = [one["PolicyArn"] == read_only for one in iam.list_attached_group_policies(GroupName=name)["AttachedPolicies"]]
iam.detach_group_policy(GroupName=name, PolicyArn=read_only)
iam.add_user_to_group(GroupName=name, UserName=name)
found["groups"] = [one["GroupName"] == name for one in iam.list_groups_for_user(UserName=name)["Groups"]]

# aws_iam_role, aws_iam_role_policy, aws_iam_role_policy_attachment
account = boto3.client("sts").get_caller_identity()["Account"]
trust = json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": {"AWS": account}, "Action": "sts:AssumeRole"}]})
made = iam.create_role(RoleName=name, Path="/tf/", Description="d", MaxSessionDuration=7200, AssumeRolePolicyDocument=trust, Tags=[{"Key": "team", "Value": "a"}])["Role"]
read = iam.get_role(RoleName=name)["Role"]
found["role reads back"] = all(read[key] == value for key, value in made.items()) and read["AssumeRolePolicyDocument"] == json.loads(trust) and read["MaxSessionDuration"] == 7200
iam.put_role_policy(RoleName=name, PolicyName="inline", PolicyDocument=policy)
found["role's policy reads back"] = iam.get_role_policy(RoleName=name, PolicyName="inline")["PolicyDocument"] == json.loads(policy)
iam.attach_role_policy(RoleName=name, PolicyArn=arn)
found["entities"] = [one["RoleName"] == name for one in iam.list_entities_for_policy(PolicyArn=arn)["PolicyRoles"]]
iam.update_role(RoleName=name, Description="e", MaxSessionDuration=3600)
iam.update_role_description(RoleName=name, Description="f")
iam.update_assume_role_policy(RoleName=name, PolicyDocument=trust)
iam.put_role_permissions_boundary(RoleName=name, PermissionsBoundary=arn)
found["boundary"] = iam.get_role(RoleName=name)["Role"]["PermissionsBoundary"]["PermissionsBoundaryArn"] == arn
iam.delete_role_permissions_boundary(RoleName=name)
assumed = boto3.client("sts").assume_role(RoleArn=made["Arn"], RoleSessionName="ci")
credentials = assumed["Credentials"]
session = boto3.Session(credentials["AccessKeyId"], credentials["SecretAccessKey"], credentials["SessionToken"])
session.client("s3").list_buckets()
found["assumed"] = session.client("sts").get_caller_identity()["Arn"] == assumed["AssumedRoleUser"]["Arn"]
found["role may not"] = refusal(session.client("iam").list_roles)
found["role's conflict"] = refusal(iam.delete_role, RoleName=name)
found["role's own"] = [
    len(iam.list_role_policies(RoleName=name)["PolicyNames"]),
    len(iam.list_attached_role_policies(RoleName=name)["AttachedPolicies"]),
    len(iam.list_instance_profiles_for_role(RoleName=name)["InstanceProfiles"]),
]
iam.delete_role_policy(RoleName=name, PolicyName="inline")
iam.detach_role_policy(RoleName=name, PolicyArn=arn)
iam.delete_role(RoleName=name)
found["role is gone"] = [refusal(iam.get_role, RoleName=name), refusal(session.client("s3").list_buckets)]

# aws_iam_openid_connect_provider
written = {"ClientIDList": ["one", "two"], "ThumbprintList": ["a" * 40], "Tags": [{"Key": "team", "Value": "a"}]}
provider = iam.create_open_id_connect_provider(Url="https://%s.example.com/realm" % name, **written)["OpenIDConnectProviderArn"]
read = iam.get_open_id_connect_provider(OpenIDConnectProviderArn=provider)
found["provider reads back"] = all(read[key] == value for key, value in written.items()) and read["Url"] == "%s.example.com/realm" % name
iam.add_client_id_to_open_id_connect_provider(OpenIDConnectProviderArn=provider, ClientID="three")
iam.remove_client_id_from_open_id_connect_provider(OpenIDConnectProviderArn=provider, ClientID="one")
iam.update_open_id_connect_provider_thumbprint(OpenIDConnectProviderArn=provider, ThumbprintList=["b" * 40])
iam.tag_open_id_connect_provider(OpenIDConnectProviderArn=provider, Tags=[{"Key": "team", "Value": "b"}])
read = iam.get_open_id_connect_provider(OpenIDConnectProviderArn=provider)
found["provider changed"] = [read["ClientIDList"], read["ThumbprintList"] == ["b" * 40], read["Tags"]]
iam.delete_open_id_connect_provider(OpenIDConnectProviderArn=provider)
found["provider is gone"] = refusal(iam.get_open_id_connect_provider, OpenIDConnectProviderArn=provider)

# aws_iam_access_key
key = iam.create_access_key(UserName=name)["AccessKey"]
its = boto3.Session(key["AccessKeyId"], key["SecretAccessKey"])
its.client("s3").list_buckets()
found["itself"] = its.client("sts").get_caller_identity()["Arn"] == created["Arn"]
found["may not"] = refusal(its.client("iam").list_users)
iam.update_access_key(UserName=name, AccessKeyId=key["AccessKeyId"], Status="Inactive")
found["inactive"] = refusal(its.client("sts").get_caller_identity)
found["status"] = [one["Status"] for one in iam.list_access_keys(UserName=name)["AccessKeyMetadata"]]
found["key's user"] = iam.get_access_key_last_used(AccessKeyId=key["AccessKeyId"])["UserName"] == name

found["conflict"] = refusal(iam.delete_user, UserName=name)

# force_destroy
for call, of in [
    (iam.list_groups_for_user, "Groups"),
    (iam.list_user_policies, "PolicyNames"),
    (iam.list_attached_user_policies, "AttachedPolicies"),
    (iam.list_access_keys, "AccessKeyMetadata"),
    (iam.list_ssh_public_keys, "SSHPublicKeys"),
    (iam.list_mfa_devices, "MFADevices"),
    (iam.list_signing_certificates, "Certificates"),
    (iam.list_service_specific_credentials, "ServiceSpecificCredentials"),
]:
    found[of] = len(call(UserName=name)[of])
found["VirtualMFADevices"] = len(iam.list_virtual_mfa_devices(AssignmentStatus="Assigned")["VirtualMFADevices"])
found["login"] = refusal(iam.delete_login_profile, UserName=name)
iam.remove_user_from_group(GroupName=name, UserName=name)
iam.delete_group_policy(GroupName=name, PolicyName="inline")
iam.delete_group(GroupName=name)
iam.delete_access_key(UserName=name, AccessKeyId=key["AccessKeyId"])
iam.detach_user_policy(UserName=name, PolicyArn=arn)
iam.delete_user_policy(UserName=name, PolicyName="inline")
iam.delete_user(UserName=name)
iam.delete_policy(PolicyArn=arn)
found["gone"] = [refusal(iam.get_user, UserName=name), refusal(iam.get_policy, PolicyArn=arn)]
found["paginated"] = sum(len(page["Policies"]) for page in iam.get_paginator("list_policies").paginate(Scope="AWS", PaginationConfig={"PageSize": 1}))

print(json.dumps(found))
