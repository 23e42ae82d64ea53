import type { RequestMessage } from '../http/message.ts';

/**
 * Tells whether a request is for S3 Control, another API, which shares its endpoint with S3 where a client is told of one endpoint for all. It
 * would be taken for a bucket `v20180820`, or one named after the account. Refused as a method that is not allowed: Terraform's AWS provider
 * (6.29 and later) then manages a bucket's tags by S3 instead: docs/adr/0070-no-s3-control.md.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_control_ListTagsForResource.html
 * https://github.com/hashicorp/terraform-provider-aws/pull/46122
 */
export function isS3Control({ target, fields }: Pick<RequestMessage, 'target' | 'fields'>): boolean {
  return target.startsWith('/v20180820/') && fields.has('x-amz-account-id');
}
