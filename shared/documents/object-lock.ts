import { formatIsoSecond, parseIsoDate } from '../http/fields/dates.ts';
import { checked, documentType, elements, integer, one, oneOf, only, optional, parsed } from './schema.ts';

const mode = oneOf('GOVERNANCE', 'COMPLIANCE');

/** At most a hundred years, as in S3. */
const period = (maximum: number) =>
  checked(integer(), (value, element) => {
    if (value <= 0) {
      throw element.invalidArgument('Default retention period must be a positive integer value.');
    }
    if (value > maximum) throw element.invalidArgument('Default retention period too large.');
  });

const defaultRetention = checked(
  elements({ mode: one('Mode', mode), days: optional('Days', period(36_500)), years: optional('Years', period(100)) }),
  ({ days, years }, element) => {
    if ((days === undefined) === (years === undefined)) throw element.fault('there must be either Days or Years');
  },
);

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_ObjectLockConfiguration.html */
export const objectLockConfiguration = documentType(
  'ObjectLockConfiguration',
  elements({
    enabled: one('ObjectLockEnabled', oneOf('Enabled')),
    defaultRetention: optional('Rule', only('DefaultRetention', defaultRetention)),
  }),
);

/** The time in whole seconds since 1970, up to the last one that has a date in this form. */
const second = parsed((text) => {
  const time = parseIsoDate(text);
  return time === undefined || time >= 253_402_300_800_000 ? undefined : Math.floor(time / 1000);
}, formatIsoSecond);

/** Empty: no retention. https://docs.aws.amazon.com/AmazonS3/latest/API/API_ObjectLockRetention.html */
export const objectRetention = documentType(
  'Retention',
  checked(
    elements({ mode: optional('Mode', mode), until: optional('RetainUntilDate', second) }),
    (retention, element) => {
      if ((retention.mode === undefined) === (retention.until === undefined)) return;
      throw element.fault('there must be both Mode and RetainUntilDate, or neither');
    },
  ),
);

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_ObjectLockLegalHold.html */
export const legalHold = documentType('LegalHold', only('Status', oneOf('ON', 'OFF')));
