import { expect, it } from 'vitest';
import * as stubs from '../../../shared/xml/stubs.ts';
import { golden, namespace } from './golden.ts';

it.each([
  [
    stubs.requestPaymentConfiguration,
    golden`<RequestPaymentConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Payer>BucketOwner</Payer></RequestPaymentConfiguration>`,
  ],
  [stubs.accelerateConfiguration, golden`<AccelerateConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"/>`],
  [stubs.bucketLoggingStatus, golden`<BucketLoggingStatus xmlns="http://s3.amazonaws.com/doc/2006-03-01/"/>`],
  [
    stubs.notificationConfiguration,
    golden`<NotificationConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"/>`,
  ],
])('%o', (write, document) => {
  expect(write(namespace)).toBe(document);
});

it('policyStatus', () => {
  expect(stubs.policyStatus(true, namespace)).toBe(
    golden`<PolicyStatus xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><IsPublic>true</IsPublic></PolicyStatus>`,
  );
});
