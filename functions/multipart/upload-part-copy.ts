import { copyPartResult } from '../../shared/documents/copy.ts';
import { S3Error } from '../../shared/errors/s3-error.ts';
import { evaluated } from '../../shared/http/fields/preconditions.ts';
import { checkCopySourceRange, parseCopySourceRange } from '../../shared/http/fields/range.ts';
import { partItemBytes } from '../../shared/storage/uploads/parts.ts';
import {
  copyFacts,
  findSource,
  parseCopyRequest,
  sourceVersionFields,
} from '../../shared/protocol/objects/copy-request.ts';
import {
  checkCustomerKey,
  checkNotBlocked,
  encryptionFields,
  readCustomerKey,
} from '../../shared/protocol/objects/encryption.ts';
import { measuredBytes, noBytes } from '../../shared/protocol/bodies/measured-bytes.ts';
import { defineOperation } from '../../shared/protocol/operation.ts';
import { addPart, checkInitiator, parsePartNumber, requireUploadId } from '../../shared/protocol/objects/part.ts';
import { creates, readQuestion } from '../../shared/protocol/objects/questions.ts';
import { storeBody } from '../../shared/protocol/bodies/store-body.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_UploadPartCopy.html */
export const uploadPartCopy = defineOperation({
  name: 'UploadPartCopy',
  on: 'object',
  body: 'none',
  needs: { table: 'write', blobs: 'write' },
  conditions: evaluated.ofPartCopy,

  parse: (request, { source }) => {
    const { bucket, key, fields, query, settings } = request;
    const range = fields.get('x-amz-copy-source-range');
    return {
      bucket,
      key,
      uploadId: requireUploadId(query),
      number: parsePartNumber(query, settings.limits.partsPerUpload),
      copy: parseCopyRequest(fields, source),
      customer: readCustomerKey(request),
      sourceCustomer: readCustomerKey(request, 'x-amz-copy-source-'),
      range: range === undefined ? undefined : parseCopySourceRange(range),
    };
  },

  sourceOf: ({ copy }) => copy.source,

  authorise: ({ bucket, key, uploadId, copy }) => [
    readQuestion(copy.source),
    { action: 'PutObject', bucket, key, uploadId, facts: { ...copyFacts(copy.source), ...creates(false) } },
  ],

  act: async ({ key, uploadId, number, copy, range, ...input }, context) => {
    const { authorisation, bucket, uploads, contents, caller, quotas, settings, view } = context;
    const [customer, sourceCustomer] = [input.customer(), input.sourceCustomer()];
    const upload = await uploads.findOpen(bucket, key, uploadId);
    checkInitiator(upload, caller);
    checkNotBlocked(bucket, upload.encryption?.kind);
    checkCustomerKey(upload.encryption, customer);
    const blobs = contents.writer(upload.encryption, customer?.key);
    const from = await view.bucket(copy.source.bucket);
    const source = await findSource(copy, from, view);
    checkCustomerKey(source.encryption, sourceCustomer);
    if (range) checkCopySourceRange(range, source.size);
    const length = range ? range.last - range.first + 1 : source.size;
    if (length > settings.limits.singleUploadBytes) {
      throw new S3Error('InvalidRequest', {
        message: 'The specified copy source is larger than the maximum allowable size for a copy source.',
      });
    }
    const reservation = await quotas.reserve(bucket, { bytes: length + partItemBytes, objects: 0 });
    try {
      const bytes = (await contents.read(source, range, sourceCustomer?.key)) ?? noBytes();
      const payload = measuredBytes(bytes, length, upload.checksum?.algorithm ?? 'CRC64NVME');
      const stored = await storeBody(payload, { bucketId: bucket.id, key }, blobs, settings.limits);
      const part = await addPart(stored, { uploads, authorisation, upload, number });
      return { part, upload, source, from };
    } finally {
      reservation.release();
    }
  },

  render: ({ part, upload, source, from }, { customer }, { settings }) => ({
    fields: [...sourceVersionFields(from, source), ...encryptionFields(upload.encryption, customer())],
    xml: copyPartResult.write(
      { lastModified: part.at, etag: Buffer.from(part.md5).toString('hex'), checksum: part.checksum },
      settings.xmlNamespace,
    ),
  }),
});
