/* Every implemented operation, and nothing else. */
export * from './bucket/alarm.ts';
export * from './bucket/bucket-acl.ts';
export * from './bucket/bucket-cors.ts';
export * from './bucket/bucket-encryption.ts';
export {
  deleteBucketLifecycle,
  getBucketLifecycleConfiguration,
  putBucketLifecycleConfiguration,
} from './bucket/bucket-lifecycle.ts';
export * from './bucket/bucket-monitoring.ts';
export * from './bucket/bucket-ownership-controls.ts';
export * from './bucket/bucket-policy.ts';
export * from './bucket/bucket-tagging.ts';
export * from './bucket/bucket-versioning.ts';
export * from './bucket/bucket-website.ts';
export * from './bucket/create-bucket.ts';
export * from './bucket/delete-bucket.ts';
export { deleteObjects } from './bucket/delete-objects.ts';
export * from './bucket/get-alarm-history.ts';
export * from './bucket/get-bucket-location.ts';
export * from './bucket/get-bucket-policy-status.ts';
export * from './bucket/get-bucket-quota.ts';
export * from './bucket/get-metric-data.ts';
export * from './bucket/head-bucket.ts';
export * from './bucket/list-alarms.ts';
export * from './bucket/list-multipart-uploads.ts';
export * from './bucket/list-object-versions.ts';
export * from './bucket/list-objects-v2.ts';
export * from './bucket/list-objects.ts';
export * from './bucket/object-lock.ts';
export * from './bucket/preflight.ts';
export * from './bucket/public-access-block.ts';
export * from './bucket/stubs.ts';
export { iam } from './iam/iam.ts';
export * from './multipart/abort-multipart-upload.ts';
export * from './multipart/complete-multipart-upload.ts';
export * from './multipart/create-multipart-upload.ts';
export * from './multipart/list-parts.ts';
export * from './multipart/upload-part-copy.ts';
export * from './multipart/upload-part.ts';
export * from './object/copy-object.ts';
export * from './object/delete-object.ts';
export * from './object/get-object-attributes.ts';
export * from './object/get-object.ts';
export * from './object/object-acl.ts';
export * from './object/object-lock.ts';
export * from './object/object-tagging.ts';
export * from './object/post-object.ts';
export * from './object/public-link.ts';
export * from './object/put-object.ts';
export * from './object/rename-object.ts';
export * from './service/get-account.ts';
export * from './service/get-health.ts';
export * from './service/get-liveness.ts';
export * from './service/get-public-link.ts';
export * from './service/list-buckets.ts';
export { sts } from './sts/sts.ts';
export * from './website/get-website-page.ts';
