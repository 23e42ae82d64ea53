import { parseAclHeaders, type AskedAcl } from '../../access/acl-headers.ts';
import { S3Error } from '../../errors/s3-error.ts';
import type { Fields } from '../../http/message.ts';
import { readAccessControlPolicy, type WrittenAcl } from '../../xml/acl.ts';
import { parseXml } from '../../xml/reader.ts';
import type { DocumentBody } from '../operation.ts';

/** The body of PutBucketAcl and PutObjectAcl. There is none where header fields say it all. */
export const aclBody: DocumentBody<WrittenAcl | undefined> = {
  maximum: 'documentBytes',
  optional: true,
  read: async (bytes, _, budget) =>
    bytes.byteLength === 0 ? undefined : readAccessControlPolicy(await parseXml(bytes, budget)),
};

/** What the head of such a request says. @throws S3Error as parseAclHeaders does */
export const parseAclRequest: (fields: Fields) => AskedAcl | undefined = parseAclHeaders;

/**
 * The ACL that such a request asks for, and the owner that its document says there is.
 * @throws S3Error InvalidRequest (in header fields and in a document), MissingSecurityHeader (in neither)
 */
export function readAclRequest(
  headers: AskedAcl | undefined,
  document: WrittenAcl | undefined,
): { readonly owner: string | undefined; readonly acl: AskedAcl } {
  if (headers !== undefined && document !== undefined) {
    throw new S3Error('InvalidRequest', {
      message: 'An ACL must be given either by header fields or by a document, not by both.',
    });
  }
  if (headers !== undefined) return { owner: undefined, acl: headers };
  if (document !== undefined) return { owner: document.owner, acl: { grants: document.grants } };
  throw new S3Error('MissingSecurityHeader', {
    message: 'Your request was missing a required header: x-amz-acl, x-amz-grant-*, or a document.',
    details: { MissingHeaderName: 'x-amz-acl' },
  });
}
