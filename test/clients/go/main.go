// A session of the AWS SDK for Go, version 1, with IAM, STS and S3. Prints what it found as JSON.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go/aws"
	"github.com/aws/aws-sdk-go/aws/awserr"
	"github.com/aws/aws-sdk-go/aws/credentials"
	"github.com/aws/aws-sdk-go/aws/credentials/stscreds"
	"github.com/aws/aws-sdk-go/aws/session"
	"github.com/aws/aws-sdk-go/service/iam"
	"github.com/aws/aws-sdk-go/service/s3"
	"github.com/aws/aws-sdk-go/service/sts"
)

// must returns what a call returned, or ends the program with its error.
func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

// refusal returns the code and the status of the error of a call.
func refusal[T any](_ T, err error) [2]any {
	var failure awserr.RequestFailure
	if errors.As(err, &failure) {
		return [2]any{failure.Code(), failure.StatusCode()}
	}
	return [2]any{fmt.Sprint(err), 0}
}

// by returns a session with other credentials.
func by(its *credentials.Credentials) *session.Session {
	return must(session.NewSession(&aws.Config{
		Endpoint:         aws.String(os.Getenv("AWS_ENDPOINT_URL")),
		Region:           aws.String("us-east-1"),
		S3ForcePathStyle: aws.Bool(true),
		Credentials:      its,
	}))
}

// allowing returns a policy.
func allowing(action, resource string) string {
	return fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":%q,"Resource":%q}]}`, action, resource)
}

// put writes an object, and returns the error.
func put(its *session.Session, bucket, key, content string) (*s3.PutObjectOutput, error) {
	input := &s3.PutObjectInput{Bucket: &bucket, Key: &key, Body: strings.NewReader(content)}
	return s3.New(its).PutObject(input)
}

// get reads an object.
func get(its *session.Session, bucket, key string) (string, error) {
	output, err := s3.New(its).GetObject(&s3.GetObjectInput{Bucket: &bucket, Key: &key})
	if err != nil {
		return "", err
	}
	defer output.Body.Close()
	content, err := io.ReadAll(output.Body)
	return string(content), err
}

// arnOf returns who calls.
func arnOf(its *session.Session) string {
	return *must(sts.New(its).GetCallerIdentity(&sts.GetCallerIdentityInput{})).Arn
}

func main() {
	bucket, name := os.Args[1], os.Args[2]
	found := map[string]any{}
	root := by(nil)
	admin := iam.New(root)
	path := "/" + name + "/"
	objects := "arn:aws:s3:::" + bucket + "/mine/*"
	must(put(root, bucket, "others", "not theirs"))

	user := must(admin.CreateUser(&iam.CreateUserInput{UserName: &name, Path: &path})).User
	second := name + "-second"
	must(admin.CreateUser(&iam.CreateUserInput{UserName: &second, Path: &path}))
	read := must(admin.GetUser(&iam.GetUserInput{UserName: &name})).User
	found["user reads back"] = *read.Arn == *user.Arn && *read.UserId == *user.UserId && read.CreateDate.Equal(*user.CreateDate)
	pages, users := 0, 0
	list := &iam.ListUsersInput{PathPrefix: &path, MaxItems: aws.Int64(1)}
	must(0, admin.ListUsersPages(list, func(page *iam.ListUsersOutput, _ bool) bool {
		pages, users = pages+1, users+len(page.Users)
		return true
	}))
	found["pages, users"] = []int{pages, users}

	inline := allowing("s3:*Object", objects)
	must(admin.PutUserPolicy(&iam.PutUserPolicyInput{UserName: &name, PolicyName: aws.String("own"), PolicyDocument: &inline}))
	back := must(admin.GetUserPolicy(&iam.GetUserPolicyInput{UserName: &name, PolicyName: aws.String("own")}))
	found["policy reads back"] = must(url.QueryUnescape(*back.PolicyDocument)) == inline
	listing := allowing("s3:ListBucket", "arn:aws:s3:::"+bucket)
	managed := must(admin.CreatePolicy(&iam.CreatePolicyInput{PolicyName: &name, PolicyDocument: &listing})).Policy.Arn
	must(admin.AttachUserPolicy(&iam.AttachUserPolicyInput{UserName: &name, PolicyArn: managed}))
	attached := must(admin.ListAttachedUserPolicies(&iam.ListAttachedUserPoliciesInput{UserName: &name})).AttachedPolicies
	found["attached"] = len(attached) == 1 && *attached[0].PolicyArn == *managed && *attached[0].PolicyName == name

	key := must(admin.CreateAccessKey(&iam.CreateAccessKeyInput{UserName: &name})).AccessKey
	limited := by(credentials.NewStaticCredentials(*key.AccessKeyId, *key.SecretAccessKey, ""))
	found["user is itself"] = arnOf(limited) == *user.Arn
	must(put(limited, bucket, "mine/user", "by the user"))
	found["user reads"] = must(get(limited, bucket, "mine/user"))
	listed := must(s3.New(limited).ListObjectsV2(&s3.ListObjectsV2Input{Bucket: &bucket}))
	found["user lists"] = len(listed.Contents)
	found["user may not read"] = refusal(get(limited, bucket, "others"))
	found["user may not write"] = refusal(put(limited, bucket, "others", "theirs"))
	found["user may not administer"] = refusal(iam.New(limited).ListUsers(&iam.ListUsersInput{}))

	token := must(sts.New(limited).GetSessionToken(&sts.GetSessionTokenInput{DurationSeconds: aws.Int64(900)})).Credentials
	temporary := by(credentials.NewStaticCredentials(*token.AccessKeyId, *token.SecretAccessKey, *token.SessionToken))
	found["session is its user"] = arnOf(temporary) == *user.Arn
	found["session reads"] = must(get(temporary, bucket, "mine/user"))
	found["session may not read"] = refusal(get(temporary, bucket, "others"))

	trust := fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":%q},"Action":"sts:AssumeRole"}]}`, *user.Arn)
	role := must(admin.CreateRole(&iam.CreateRoleInput{RoleName: &name, AssumeRolePolicyDocument: &trust})).Role
	reading := allowing("s3:GetObject", objects)
	must(admin.PutRolePolicy(&iam.PutRolePolicyInput{RoleName: &name, PolicyName: aws.String("own"), PolicyDocument: &reading}))
	assumed := by(stscreds.NewCredentials(limited, *role.Arn, func(it *stscreds.AssumeRoleProvider) { it.RoleSessionName = "go" }))
	found["role"] = arnOf(assumed)
	found["role reads"] = must(get(assumed, bucket, "mine/user"))
	found["role may not write"] = refusal(put(assumed, bucket, "mine/role", "by the role"))
	found["not trusted"] = refusal(by(stscreds.NewCredentials(temporary, *role.Arn+"-other")).Config.Credentials.Get())

	found["conflict"] = refusal(admin.DeleteUser(&iam.DeleteUserInput{UserName: &name}))
	must(admin.DeleteRolePolicy(&iam.DeleteRolePolicyInput{RoleName: &name, PolicyName: aws.String("own")}))
	must(admin.DeleteRole(&iam.DeleteRoleInput{RoleName: &name}))
	must(admin.DetachUserPolicy(&iam.DetachUserPolicyInput{UserName: &name, PolicyArn: managed}))
	must(admin.DeletePolicy(&iam.DeletePolicyInput{PolicyArn: managed}))
	must(admin.DeleteUserPolicy(&iam.DeleteUserPolicyInput{UserName: &name, PolicyName: aws.String("own")}))
	must(admin.DeleteAccessKey(&iam.DeleteAccessKeyInput{UserName: &name, AccessKeyId: key.AccessKeyId}))
	for _, one := range []string{name, second} {
		must(admin.DeleteUser(&iam.DeleteUserInput{UserName: aws.String(one)}))
	}
	found["gone"] = [][2]any{
		refusal(admin.GetUser(&iam.GetUserInput{UserName: &name})),
		refusal(admin.GetRole(&iam.GetRoleInput{RoleName: &name})),
		refusal(admin.GetPolicy(&iam.GetPolicyInput{PolicyArn: managed})),
	}
	must(0, json.NewEncoder(os.Stdout).Encode(found))
}
