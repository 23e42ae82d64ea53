import { parseAclHeaders, type AskedAcl } from '../../access/acl-headers.ts';
import { writtenAcl, type WrittenAcl } from '../../documents/acl.ts';
import { S3Error } from '../../errors/s3-error.ts';
import type { Fields } from '../../http/message.ts';
import { optionalXmlBody } from '../bodies/xml-body.ts';

/** The body of PutBucketAcl and PutObjectAcl, which is absent if header fields contain the ACL. */
export const aclBody = optionalXmlBody(writtenAcl);

/** Reads the ACL from the head of such a request. @throws S3Error as parseAclHeaders does */
export const parseAclRequest: (fields: Fields) => AskedAcl | undefined = parseAclHeaders;

/**
 * Returns the requested ACL, and the owner according to the document.
 * @throws S3Error InvalidRequest (both header fields and a document), MissingSecurityHeader (neither)
 */
export function readAclRequest(
  headers: AskedAcl | undefined,
  document: WrittenAcl | undefined,
): { readonly owner: string | undefined; readonly acl: AskedAcl } {
  if (headers !== undefined && document !== undefined) {
    throw new S3Error('InvalidRequest', {
      message: 'An ACL must be given either in header fields or in a document, not in both.',
    });
  }
  if (headers !== undefined) return { owner: undefined, acl: headers };
  if (document !== undefined) return { owner: document.owner.id, acl: { grants: document.grants } };
  throw new S3Error('MissingSecurityHeader', {
    message: 'Your request was missing a required header: x-amz-acl, x-amz-grant-*, or a document.',
    details: { MissingHeaderName: 'x-amz-acl' },
  });
}
