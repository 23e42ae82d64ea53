import { initiateMultipartUploadResult } from '../../shared/documents/multipart.ts';
import { S3Error } from '../../shared/errors/s3-error.ts';
import { live } from '../../shared/storage/version-changes/key-commits.ts';
import { checkKey } from '../../shared/http/address.ts';
import { evaluated } from '../../shared/http/fields/preconditions.ts';
import { defineOperation } from '../../shared/protocol/operation.ts';
import {
  customerOf,
  encryptionFields,
  encryptionIn,
  readWantedEncryption,
  wantedKey,
} from '../../shared/protocol/objects/encryption.ts';
import { readAbortion } from '../../shared/protocol/objects/expiration-header.ts';
import { grantsOfUpload } from '../../shared/protocol/acls/granted-acl.ts';
import { ownerOfNew } from '../../shared/protocol/authorisation/ownership.ts';
import { askedOf } from '../../shared/protocol/authorisation/policy-facts.ts';
import { roomIn } from '../../shared/protocol/objects/room.ts';
import { checkLock } from '../../shared/protocol/objects/object-lock.ts';
import { parseUploadChecksum } from '../../shared/protocol/objects/upload-checksum.ts';
import { creates, uploadQuestions } from '../../shared/protocol/objects/questions.ts';
import { readUploadHeaders } from '../../shared/protocol/objects/upload-headers.ts';
import { writeComparison, writeGuard } from '../../shared/protocol/objects/write-guard.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_CreateMultipartUpload.html */
export const createMultipartUpload = defineOperation({
  name: 'CreateMultipartUpload',
  on: 'object',
  body: 'none',
  needs: { table: 'write' },
  // minio-go sends those of an upload with its first request, too.
  conditions: evaluated.ofWrite,

  parse: (request, conditions) => {
    const { bucket, key, fields, settings } = request;
    checkKey(key, settings.limits.keyBytes);
    return {
      bucket,
      key,
      upload: readUploadHeaders(fields, settings.limits),
      checksum: parseUploadChecksum(fields),
      wanted: readWantedEncryption(request),
      asked: askedOf(fields),
      conditions,
    };
  },

  authorise: ({ upload, conditions }, request) => [
    ...uploadQuestions(request, request.fields, upload.tags, { facts: creates(false) }),
    ...writeComparison(request, conditions),
  ],

  act: async ({ key, upload, checksum, wanted, asked, conditions }, context) => {
    const { authorisation, bucket, caller, uploads, contents, clock, quotas, settings, view } = context;
    // No one could be identified as the initiator who may continue it.
    if (caller.kind !== 'user') throw new S3Error('AccessDenied');
    const { systemMetadata, storageClass, lock, headers, metadata, tags } = upload;
    checkLock(lock, bucket, clock.now());
    const guard = writeGuard(conditions);
    if (guard) guard(live(await view.find(bucket, key)));
    const owner = ownerOfNew(caller, bucket, upload.acl);
    const objectAttributes = { headers, metadata, tags, ...(await grantsOfUpload(upload.acl, owner, bucket, context)) };
    const { record } = contents.encryption(wantedKey(encryptionIn(bucket, wanted())));
    const initiator = caller.project.id;
    const fresh = {
      owner,
      initiator,
      ...systemMetadata,
      storageClass,
      ...lock,
      objectAttributes,
      encryption: record,
      checksum,
      asked,
    };
    const abortion = await readAbortion(context, bucket, { key, initiated: clock.now() });
    return {
      uploadId: await uploads.create(authorisation, fresh, roomIn(bucket, quotas, settings.limits.uploadsPerBucket)),
      record,
      abortion,
    };
  },

  render: ({ uploadId, record, abortion }, { bucket, key, checksum, wanted }, { settings }) => ({
    fields: [
      ...(checksum
        ? [['x-amz-checksum-algorithm', checksum.algorithm] as const, ['x-amz-checksum-type', checksum.type] as const]
        : []),
      ...abortion,
      ...encryptionFields(record, customerOf(wanted())),
    ],
    xml: initiateMultipartUploadResult.write({ bucket, key, uploadId }, settings.xmlNamespace),
  }),
});
