import type { AnyOperation } from '../shared/protocol/operation.ts';
import type { OperationName } from '../shared/protocol/routes.ts';
import { deleteBucketTagging, getBucketTagging, putBucketTagging } from './bucket/bucket-tagging.ts';
import { getBucketVersioning, putBucketVersioning } from './bucket/bucket-versioning.ts';
import { createBucket } from './bucket/create-bucket.ts';
import { deleteBucket } from './bucket/delete-bucket.ts';
import { deleteObjects } from './bucket/delete-objects.ts';
import { getBucketLocation } from './bucket/get-bucket-location.ts';
import { headBucket } from './bucket/head-bucket.ts';
import { listMultipartUploads } from './bucket/list-multipart-uploads.ts';
import { listObjectVersions } from './bucket/list-object-versions.ts';
import { listObjectsV2 } from './bucket/list-objects-v2.ts';
import { listObjects } from './bucket/list-objects.ts';
import { stubs } from './bucket/stubs.ts';
import { abortMultipartUpload } from './multipart/abort-multipart-upload.ts';
import { completeMultipartUpload } from './multipart/complete-multipart-upload.ts';
import { createMultipartUpload } from './multipart/create-multipart-upload.ts';
import { listParts } from './multipart/list-parts.ts';
import { uploadPartCopy } from './multipart/upload-part-copy.ts';
import { uploadPart } from './multipart/upload-part.ts';
import { copyObject } from './object/copy-object.ts';
import { deleteObject } from './object/delete-object.ts';
import { getObjectAttributes } from './object/get-object-attributes.ts';
import { getObject, headObject } from './object/get-object.ts';
import { deleteObjectTagging, getObjectTagging, putObjectTagging } from './object/object-tagging.ts';
import { postObject } from './object/post-object.ts';
import { putObject } from './object/put-object.ts';
import { renameObject } from './object/rename-object.ts';
import { getHealth } from './service/get-health.ts';
import { listBuckets } from './service/list-buckets.ts';

/** Every operation that is built. A row of the route table that is not here answers 501 NotImplemented. */
export const operations: ReadonlyMap<OperationName, AnyOperation> = new Map(
  (
    [
      abortMultipartUpload,
      completeMultipartUpload,
      copyObject,
      createBucket,
      createMultipartUpload,
      deleteBucket,
      deleteBucketTagging,
      deleteObject,
      deleteObjectTagging,
      deleteObjects,
      getBucketLocation,
      getBucketTagging,
      getBucketVersioning,
      getHealth,
      getObject,
      getObjectAttributes,
      getObjectTagging,
      headBucket,
      headObject,
      listBuckets,
      listMultipartUploads,
      listObjectVersions,
      listObjects,
      listObjectsV2,
      listParts,
      postObject,
      putBucketTagging,
      putBucketVersioning,
      putObject,
      putObjectTagging,
      renameObject,
      uploadPart,
      uploadPartCopy,
      ...stubs,
    ] as readonly AnyOperation[]
  ).map((operation) => [operation.name, operation]),
);
