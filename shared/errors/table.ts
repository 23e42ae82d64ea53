/**
 * The errors that the service can return, with their HTTP status and default message. Some clients compare messages, so
 * they are S3's own, down to the full stops, wherever S3's responses show them.
 *
 * The codes are those of the S3 API (https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html) and, where
 * its dialect differs, of Ceph RGW. Only codes in this table can be thrown.
 */
export const errorTable = {
  AccessControlListNotSupported: { status: 400, message: 'The bucket does not allow ACLs' },
  AccessDenied: { status: 403, message: 'Access Denied' },
  AccessForbidden: {
    status: 403,
    message:
      "CORSResponse: This CORS request is not allowed. This is usually because the evalution of Origin, request method / Access-Control-Request-Method or Access-Control-Request-Headers are not whitelisted by the resource's CORS spec.",
  },
  AuthorizationHeaderMalformed: { status: 400, message: 'The authorization header is malformed.' },
  AuthorizationQueryParametersError: { status: 400, message: 'The authorization query parameters are malformed.' },
  BadDigest: { status: 400, message: 'The digest or checksum you specified did not match what we received.' },
  BadRequest: { status: 400, message: 'The request could not be understood.' },
  BucketAlreadyExists: {
    status: 409,
    message:
      'The requested bucket name is not available. The bucket namespace is shared by all users of the system. Please select a different name and try again.',
  },
  BucketNotEmpty: { status: 409, message: 'The bucket you tried to delete is not empty' },
  ConditionalRequestConflict: {
    status: 409,
    message: 'The conditional request conflicted with another one. Try again.',
  },
  DeleteConflict: { status: 409, message: 'The entity still has others that belong to it.' },
  EntityAlreadyExists: { status: 409, message: 'An entity of this name already exists.' },
  EntityTooLarge: { status: 400, message: 'Your proposed upload exceeds the maximum allowed size' },
  EntityTooSmall: { status: 400, message: 'Your proposed upload is smaller than the minimum allowed size' },
  ExpiredTokenException: { status: 400, message: 'Token expired: the time until which it is valid has passed' },
  ExpiredToken: { status: 400, message: 'The provided token has expired.' },
  IDPCommunicationError: {
    status: 400,
    message: 'The identity provider could not be reached, or did not answer with its keys. Try again.',
  },
  IllegalLocationConstraintException: { status: 400, message: 'The location constraint is not valid here.' },
  IncompleteBody: {
    status: 400,
    message: 'The request body does not match its framing or the number of bytes announced by Content-Length.',
  },
  InternalError: { status: 500, message: 'We encountered an internal error. Please try again.' },
  InvalidAccessKeyId: { status: 403, message: 'The AWS Access Key Id you provided does not exist in our records.' },
  InvalidAction: { status: 400, message: 'The action is not known.' },
  InvalidArgument: { status: 400, message: 'Invalid Argument' },
  InvalidBucketAclWithObjectOwnership: {
    status: 400,
    message: "Bucket cannot have ACLs set with ObjectOwnership's BucketOwnerEnforced setting",
  },
  InvalidBucketName: { status: 400, message: 'The specified bucket is not valid.' },
  InvalidBucketState: { status: 409, message: 'The request is not valid for the current state of the bucket.' },
  InvalidChunkSizeError: { status: 403, message: 'The chunks of the body are too small.' },
  InvalidDigest: { status: 400, message: 'The Content-MD5 you specified was invalid.' },
  InvalidEncryptionAlgorithmError: {
    status: 400,
    message: 'The encryption request is not valid. Valid value: AES256.',
  },
  InvalidEventCategoryException: { status: 400, message: 'The event category is not valid.' },
  InvalidIdentityToken: { status: 400, message: 'The token is not valid.' },
  InvalidInput: { status: 400, message: 'The input is not valid.' },
  InvalidLocationConstraint: { status: 400, message: 'The specified location-constraint is not valid' },
  InvalidLookupAttributesException: { status: 400, message: 'The lookup attribute is not valid.' },
  InvalidMaxResultsException: { status: 400, message: 'The maximum of results must be from 1 to 50.' },
  InvalidNextTokenException: { status: 400, message: 'The token is not valid for this request.' },
  InvalidObjectName: { status: 400, message: 'The specified object name is not valid.' },
  InvalidPart: {
    status: 400,
    message:
      "One or more of the specified parts could not be found.  The part may not have been uploaded, or the specified entity tag may not match the part's entity tag.",
  },
  InvalidPartOrder: {
    status: 400,
    message: 'The list of parts was not in ascending order. Parts must be ordered by part number.',
  },
  InvalidPolicyDocument: { status: 400, message: 'The content of the form does not meet the policy document.' },
  InvalidRange: { status: 416, message: 'The requested range is not satisfiable' },
  InvalidRedirectLocation: {
    status: 400,
    message: "The website redirect location must start with '/', 'http://' or 'https://' and be at most 2 KB long.",
  },
  InvalidRequest: { status: 400, message: 'Invalid Request' },
  InvalidStorageClass: { status: 400, message: 'The storage class you specified is not valid' },
  InvalidTag: { status: 400, message: 'The tag provided was not a valid tag.' },
  InvalidTargetBucketForLogging: { status: 400, message: 'The target bucket for logging does not exist' },
  InvalidTimeRangeException: { status: 400, message: 'The time range is not valid.' },
  InvalidToken: { status: 400, message: 'The provided token is malformed or otherwise not valid.' },
  InvalidURI: { status: 400, message: 'The specified URI could not be parsed.' },
  LimitExceeded: { status: 409, message: 'The account has as many as it may have.' },
  MalformedACLError: {
    status: 400,
    message: 'The XML you provided was not well-formed or did not validate against our published schema',
  },
  MalformedPOSTRequest: {
    status: 400,
    message: 'The body of your POST request is not well-formed multipart/form-data.',
  },
  MalformedPolicy: { status: 400, message: 'The policy is not well formed or did not validate.' },
  MalformedTrailerError: { status: 400, message: 'The request contained trailing data that was not well formed.' },
  MalformedXML: {
    status: 400,
    message: 'The XML you provided was not well-formed or did not validate against our published schema',
  },
  MaxMessageLengthExceeded: { status: 400, message: 'Your request was too big.' },
  MaxPostPreDataLengthExceeded: {
    status: 400,
    message: 'The fields of your POST request preceding the upload file were too large.',
  },
  MetadataTooLarge: { status: 400, message: 'Your metadata headers exceed the maximum allowed metadata size' },
  MethodNotAllowed: { status: 405, message: 'The specified method is not allowed against this resource.' },
  MissingAuthenticationToken: { status: 403, message: 'Request is missing Authentication Token' },
  MissingContentLength: { status: 411, message: 'You must provide the Content-Length HTTP header.' },
  MissingSecurityHeader: { status: 400, message: 'Your request is missing a required header.' },
  NoSuchDelivery: { status: 404, message: 'There is no such event that was given up.' },
  NoSuchWebhook: { status: 404, message: 'The specified webhook does not exist.' },
  NoSuchAlarm: { status: 404, message: 'The specified alarm does not exist.' },
  NoSuchBucket: { status: 404, message: 'The specified bucket does not exist' },
  NoSuchBucketPolicy: { status: 404, message: 'The bucket policy does not exist' },
  NoSuchCORSConfiguration: { status: 404, message: 'The CORS configuration does not exist' },
  NoSuchEntity: { status: 404, message: 'The entity does not exist.' },
  NoSuchKey: { status: 404, message: 'The specified key does not exist.' },
  NoSuchLifecycleConfiguration: { status: 404, message: 'The lifecycle configuration does not exist' },
  NoSuchObjectLockConfiguration: {
    status: 404,
    message: 'The specified object does not have a ObjectLock configuration',
  },
  NoSuchPublicAccessBlockConfiguration: {
    status: 404,
    message: 'The public access block configuration was not found',
  },
  NoSuchPublicLink: { status: 404, message: 'The public link does not exist or is no longer valid.' },
  NoSuchTagSet: { status: 404, message: 'The TagSet does not exist' },
  NoSuchUpload: {
    status: 404,
    message:
      'The specified upload does not exist. The upload ID may be invalid, or the upload may have been aborted or completed.',
  },
  NoSuchWebsiteConfiguration: { status: 404, message: 'The specified bucket does not have a website configuration' },
  NotImplemented: { status: 501, message: 'The functionality you requested is not implemented.' },
  ObjectLockConfigurationNotFoundError: {
    status: 404,
    message: 'Object Lock configuration does not exist for this bucket',
  },
  OwnershipControlsNotFoundError: { status: 404, message: 'The bucket ownership controls were not found' },
  PackedPolicyTooLarge: { status: 400, message: 'The policies of the session are too large.' },
  PolicyTooLarge: { status: 400, message: 'The policy exceeds the maximum allowed document size.' },
  PreconditionFailed: { status: 412, message: 'At least one of the pre-conditions you specified did not hold' },
  QuotaExceeded: { status: 403, message: 'The quota of the bucket is exceeded.' },
  ReplicationConfigurationNotFoundError: { status: 404, message: 'The replication configuration was not found' },
  RequestHeaderSectionTooLarge: {
    status: 400,
    message: 'Your request header section exceeds the maximum allowed header section size.',
  },
  RequestTimeout: {
    status: 400,
    message:
      'Your socket connection to the server was not read from or written to within the timeout period. Idle connections will be closed.',
  },
  RequestTimeTooSkewed: {
    status: 403,
    message: 'The difference between the request time and the current time is too large.',
  },
  SerializationException: { status: 400, message: 'The body of the request cannot be read.' },
  ServerSideEncryptionConfigurationNotFoundError: {
    status: 404,
    message: 'The server side encryption configuration was not found',
  },
  ServiceUnavailable: { status: 503, message: 'The service is not able to handle the request. Try again.' },
  SignatureDoesNotMatch: {
    status: 403,
    message:
      'The request signature we calculated does not match the signature you provided. Check your key and signing method.',
  },
  SlowDown: { status: 503, message: 'Please reduce your request rate.' },
  TooManyAlarms: { status: 400, message: 'The bucket has the maximum number of alarms.' },
  TooManyBuckets: { status: 400, message: 'You have attempted to create more buckets than allowed' },
  UnprocessableEntity: { status: 422, message: 'The ETag you specified did not match what we received.' },
  UnresolvableGrantByEmailAddress: {
    status: 400,
    message: 'The e-mail address you provided does not match any account on record.',
  },
  UnknownOperationException: { status: 400, message: 'The operation is not known.' },
  UserSuspended: { status: 403, message: 'The user, its project or its customer is suspended.' },
  ValidationError: { status: 400, message: 'The parameters of the request are not valid.' },
  XAmzContentSHA256Mismatch: {
    status: 400,
    message: "The provided 'x-amz-content-sha256' header does not match what was computed.",
  },
} as const satisfies Record<string, { status: number; message: string }>;

/** An error code of the table: the `<Code>` of an error body. */
export type ErrorCode = keyof typeof errorTable;
