import { S3Error } from '../errors/s3-error.ts';
import { readDocument, type XmlSource } from './reader.ts';
import { document } from './writer.ts';

/*
 * Responses about unsupported features. Terraform and other tools read these settings of every bucket and fail unless
 * they get the document that S3 returns for a bucket that never used the feature.
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

/** Reads the body of PutBucketRequestPayment. @throws S3Error MalformedXML, NotImplemented (Requester Pays) */
export function readRequestPayment(body: XmlSource): void {
  const payer = readDocument(body, 'RequestPaymentConfiguration').onlyChildren('Payer').one('Payer');
  if (payer.choice('BucketOwner', 'Requester') === 'Requester') throw notImplemented('Requester Pays');
}

/** Reads the body of PutBucketLogging. @throws S3Error MalformedXML, NotImplemented (to enable logging) */
export function readNoLogging(body: XmlSource): void {
  if (readDocument(body, 'BucketLoggingStatus').children.length > 0) throw notImplemented('Server access logging');
}

/**
 * Reads the body of PutBucketNotificationConfiguration. @throws S3Error MalformedXML, NotImplemented (any notification)
 */
export function readNoNotifications(body: XmlSource): void {
  if (readDocument(body, 'NotificationConfiguration').children.length > 0) throw notImplemented('Event notification');
}

function notImplemented(what: string): S3Error {
  return new S3Error('NotImplemented', { message: `${what} is not implemented.` });
}
