import type { RequestMessage } from '../http/message.ts';

/**
 * Returns true for a request to S3 Control, a different API, which clients send to S3's endpoint if they have one endpoint for all services.
 * It would be treated as a request for a bucket `v20180820`, or one named after the account. It is refused with 405, after which Terraform's
 * AWS provider (6.29 and later) manages a bucket's tags by S3 instead: docs/adr/0070-no-s3-control.md.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_control_ListTagsForResource.html
 * https://github.com/hashicorp/terraform-provider-aws/pull/46122
 */
export function isS3Control({ target, fields }: Pick<RequestMessage, 'target' | 'fields'>): boolean {
  return target.startsWith('/v20180820/') && fields.has('x-amz-account-id');
}
