import { document, quoted } from './writer.ts';

/**
 * The answer of PostObject when the form asks for status 201. Its root has no namespace, as S3's has none.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/RESTObjectPOST.html
 */
export function postResponse(posted: {
  readonly location: string;
  readonly bucket: string;
  readonly key: string;
  /** Without quotes. */
  readonly etag: string;
}): string {
  return document('PostResponse', undefined, {
    Location: posted.location,
    Bucket: posted.bucket,
    Key: posted.key,
    ETag: quoted(posted.etag),
  });
}
