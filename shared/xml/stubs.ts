import { document } from './writer.ts';

/*
 * Answers about features that no bucket has. Terraform and other tools read them from every bucket and give up on
 * anything but the document S3 sends for a bucket that never used the feature.
 */

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketRequestPayment.html */
export function requestPaymentConfiguration(namespace: string): string {
  return document('RequestPaymentConfiguration', namespace, { Payer: 'BucketOwner' });
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketAccelerateConfiguration.html */
export function accelerateConfiguration(namespace: string): string {
  return document('AccelerateConfiguration', namespace, {});
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketLogging.html */
export function bucketLoggingStatus(namespace: string): string {
  return document('BucketLoggingStatus', namespace, {});
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketNotificationConfiguration.html */
export function notificationConfiguration(namespace: string): string {
  return document('NotificationConfiguration', namespace, {});
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketPolicyStatus.html */
export function policyStatus(isPublic: boolean, namespace: string): string {
  return document('PolicyStatus', namespace, { IsPublic: isPublic });
}
