import { checkKey } from '../../shared/http/address.ts';
import { evaluated } from '../../shared/http/fields/preconditions.ts';
import { readWantedEncryption } from '../../shared/protocol/objects/encryption.ts';
import { defineOperation } from '../../shared/protocol/operation.ts';
import { checkDigestIsGiven } from '../../shared/protocol/objects/object-lock.ts';
import { refuseSelection } from '../../shared/protocol/objects/part.ts';
import { storedFields, storeObject } from '../../shared/protocol/objects/store-object.ts';
import { uploadQuestions } from '../../shared/protocol/objects/questions.ts';
import { checkLengthIsGiven } from '../../shared/protocol/bodies/announced-body.ts';
import { writeComparison } from '../../shared/protocol/objects/write-guard.ts';
import { readUploadHeaders } from '../../shared/protocol/objects/upload-headers.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObject.html */
export const putObject = defineOperation({
  name: 'PutObject',
  on: 'object',
  body: 'stream',
  needs: { table: 'write', blobs: 'write' },
  conditions: evaluated.ofWrite,

  parse: (request, conditions) => {
    const { bucket, key, fields, query, settings } = request;
    refuseSelection(query);
    checkLengthIsGiven(fields);
    checkKey(key, settings.limits.keyBytes);
    const headers = readUploadHeaders(fields, settings.limits);
    checkDigestIsGiven(headers.lock, fields);
    return {
      bucket,
      key,
      encryption: readWantedEncryption(request),
      headers,
      conditions,
      expectedEtag: fields.get('etag')?.replaceAll('"', ''),
    };
  },

  authorise: ({ headers, conditions }, request) => [
    ...uploadQuestions(request, request.fields, headers.tags),
    ...writeComparison(request, conditions),
  ],

  act: (upload, context) => storeObject(upload, context),

  render: (stored, upload) => ({ fields: storedFields(stored, upload) }),
});
