import type { CarrierKind } from '../../shared/accounts/directory.ts';
import { S3Error } from '../../shared/errors/s3-error.ts';

type Kind = CarrierKind | 'policy' | 'provider';

/* The errors of IAM, in the words of AWS: https://docs.aws.amazon.com/IAM/latest/APIReference/CommonErrors.html */

export function noSuch(kind: Kind | 'access key', name: string): S3Error {
  const what = kind === 'access key' ? 'Access Key with id' : `${kind} with name`;
  return new S3Error('NoSuchEntity', { message: `The ${what} ${name} cannot be found.` });
}

export function noSuchPolicy(arn: string): S3Error {
  return new S3Error('NoSuchEntity', { message: `Policy ${arn} does not exist or is not attachable.` });
}

export function noSuchProvider(arn: string): S3Error {
  return new S3Error('NoSuchEntity', { message: `OpenIDConnect Provider not found for arn ${arn}` });
}

export function alreadyExists(kind: Kind, name: string): S3Error {
  const what = `${kind.charAt(0).toUpperCase()}${kind.slice(1)}`;
  return new S3Error('EntityAlreadyExists', { message: `${what} with name ${name} already exists.` });
}

export function deleteConflict(message: string): S3Error {
  return new S3Error('DeleteConflict', { message });
}

/** @param quota as AWS calls it: `PoliciesPerUser` */
export function limitExceeded(quota: string, limit: number): S3Error {
  return new S3Error('LimitExceeded', { message: `Cannot exceed quota for ${quota}: ${limit}` });
}

export function tooLong(limit: number, of: string): S3Error {
  return new S3Error('LimitExceeded', { message: `Maximum policy size of ${limit} bytes exceeded for ${of}` });
}

export function invalidInput(message: string): S3Error {
  return new S3Error('InvalidInput', { message });
}
