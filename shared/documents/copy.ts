import { checksum, typedChecksum } from './checksums.ts';
import { documentType, elements, etag, one, time } from './schema.ts';

const facts = { lastModified: one('LastModified', time), etag: one('ETag', etag) };

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_CopyObject.html */
export const copyObjectResult = documentType('CopyObjectResult', elements({ ...facts, checksum: typedChecksum }));

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_UploadPartCopy.html */
export const copyPartResult = documentType('CopyPartResult', elements({ ...facts, checksum }));
