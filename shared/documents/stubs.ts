import type { XmlElement } from './element.ts';
import { boolean, checked, documentType, only, oneOf, type Content } from './schema.ts';

/*
 * Documents of unsupported features. Terraform and other tools read these settings of every bucket and fail unless they
 * get the document that S3 returns for a bucket that never used the feature, which they also send to remove a setting.
 */

const notImplemented = (element: XmlElement, what: string): Error =>
  element.refusal('NotImplemented', `${what} is not implemented.`);

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketRequestPayment.html */
export const requestPayment = documentType(
  'RequestPaymentConfiguration',
  only(
    'Payer',
    checked(oneOf('BucketOwner', 'Requester'), (payer, element) => {
      if (payer === 'Requester') throw notImplemented(element, 'Requester Pays');
    }),
  ),
);

/** The configuration of a feature that is off. */
const nothing = (what: string): Content<unknown> => ({
  read: (element) => {
    if (element.children.length > 0) throw notImplemented(element, what);
    element.onlyChildren(() => false);
  },
  write: () => '',
});

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketAccelerateConfiguration.html */
export const acceleration = documentType('AccelerateConfiguration', nothing('Transfer acceleration'));

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketPolicyStatus.html */
export const policyStatus = documentType('PolicyStatus', only('IsPublic', boolean));
