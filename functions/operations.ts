import type { AnyOperation } from '../shared/protocol/operation.ts';
import type { OperationName } from '../shared/protocol/routes.ts';
import { deleteAlarm, getAlarm, putAlarm } from './bucket/alarm.ts';
import { getBucketAcl, putBucketAcl } from './bucket/bucket-acl.ts';
import { deleteBucketCors, getBucketCors, putBucketCors } from './bucket/bucket-cors.ts';
import { deleteBucketEncryption, getBucketEncryption, putBucketEncryption } from './bucket/bucket-encryption.ts';
import {
  deleteBucketOwnershipControls,
  getBucketOwnershipControls,
  putBucketOwnershipControls,
} from './bucket/bucket-ownership-controls.ts';
import { deleteBucketPolicy, getBucketPolicy, putBucketPolicy } from './bucket/bucket-policy.ts';
import {
  deleteBucketLifecycle,
  getBucketLifecycleConfiguration,
  putBucketLifecycleConfiguration,
} from './bucket/bucket-lifecycle.ts';
import { getBucketMonitoring, putBucketMonitoring } from './bucket/bucket-monitoring.ts';
import { deleteBucketTagging, getBucketTagging, putBucketTagging } from './bucket/bucket-tagging.ts';
import { getBucketVersioning, putBucketVersioning } from './bucket/bucket-versioning.ts';
import { deleteBucketWebsite, getBucketWebsite, putBucketWebsite } from './bucket/bucket-website.ts';
import { createBucket } from './bucket/create-bucket.ts';
import { deleteBucket } from './bucket/delete-bucket.ts';
import { deleteObjects } from './bucket/delete-objects.ts';
import { getAlarmHistory } from './bucket/get-alarm-history.ts';
import { getBucketLocation } from './bucket/get-bucket-location.ts';
import { getBucketPolicyStatus } from './bucket/get-bucket-policy-status.ts';
import { getBucketQuota } from './bucket/get-bucket-quota.ts';
import { getMetricData } from './bucket/get-metric-data.ts';
import { headBucket } from './bucket/head-bucket.ts';
import { listAlarms } from './bucket/list-alarms.ts';
import { listMultipartUploads } from './bucket/list-multipart-uploads.ts';
import { listObjectVersions } from './bucket/list-object-versions.ts';
import { listObjectsV2 } from './bucket/list-objects-v2.ts';
import { listObjects } from './bucket/list-objects.ts';
import { preflight } from './bucket/preflight.ts';
import { deletePublicAccessBlock, getPublicAccessBlock, putPublicAccessBlock } from './bucket/public-access-block.ts';
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
import { getObjectAcl, putObjectAcl } from './object/object-acl.ts';
import { deleteObjectTagging, getObjectTagging, putObjectTagging } from './object/object-tagging.ts';
import { postObject } from './object/post-object.ts';
import { createPublicLink, deletePublicLink, listPublicLinks } from './object/public-link.ts';
import { putObject } from './object/put-object.ts';
import { renameObject } from './object/rename-object.ts';
import { getAccount } from './service/get-account.ts';
import { getHealth } from './service/get-health.ts';
import { getLiveness } from './service/get-liveness.ts';
import { getPublicLink } from './service/get-public-link.ts';
import { listBuckets } from './service/list-buckets.ts';
import { getWebsitePage } from './website/get-website-page.ts';

/** All implemented operations. Routes whose operation is not listed here answer 501 NotImplemented. */
export const operations: ReadonlyMap<OperationName, AnyOperation> = new Map(
  (
    [
      abortMultipartUpload,
      completeMultipartUpload,
      copyObject,
      createBucket,
      createMultipartUpload,
      createPublicLink,
      deleteAlarm,
      deleteBucket,
      deleteBucketCors,
      deleteBucketEncryption,
      deleteBucketOwnershipControls,
      deleteBucketPolicy,
      deletePublicAccessBlock,
      deleteBucketLifecycle,
      deleteBucketTagging,
      deleteBucketWebsite,
      deleteObject,
      deleteObjectTagging,
      deleteObjects,
      deletePublicLink,
      getBucketLifecycleConfiguration,
      getBucketAcl,
      getBucketCors,
      getAccount,
      getAlarm,
      getAlarmHistory,
      getBucketLocation,
      getBucketMonitoring,
      getBucketEncryption,
      getBucketOwnershipControls,
      getBucketPolicy,
      getPublicAccessBlock,
      getBucketPolicyStatus,
      getBucketQuota,
      getBucketTagging,
      getBucketVersioning,
      getBucketWebsite,
      getHealth,
      getLiveness,
      getMetricData,
      getObject,
      getObjectAcl,
      getObjectAttributes,
      getObjectTagging,
      getPublicLink,
      getWebsitePage,
      headBucket,
      headObject,
      listAlarms,
      listBuckets,
      listMultipartUploads,
      listObjectVersions,
      listObjects,
      listObjectsV2,
      listParts,
      listPublicLinks,
      postObject,
      preflight,
      putBucketCors,
      putBucketEncryption,
      putBucketOwnershipControls,
      putBucketPolicy,
      putPublicAccessBlock,
      putBucketLifecycleConfiguration,
      putBucketAcl,
      putAlarm,
      putBucketMonitoring,
      putBucketTagging,
      putBucketVersioning,
      putBucketWebsite,
      putObject,
      putObjectAcl,
      putObjectTagging,
      renameObject,
      uploadPart,
      uploadPartCopy,
      ...stubs,
    ] as readonly AnyOperation[]
  ).map((operation) => [operation.name, operation]),
);
