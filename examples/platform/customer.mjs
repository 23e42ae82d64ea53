// What a customer's own program does with the key that the platform gave: a bucket that its pages may upload to, and uploads of browsers.
import { CreateBucketCommand, PutBucketCorsCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { GetFederationTokenCommand, STSClient } from '@aws-sdk/client-sts';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';

/** A customer's program, with the customer's key. */
export class Customer {
  #settings;
  #bucket;

  constructor(endpoint, region, bucket, credentials) {
    this.#settings = { endpoint, region, credentials, forcePathStyle: true };
    this.#bucket = bucket;
  }

  /** Makes the bucket, and lets pages of this origin upload to it. */
  async setUp(origin) {
    const s3 = new S3Client(this.#settings);
    await s3.send(new CreateBucketCommand({ Bucket: this.#bucket }));
    const rule = { AllowedOrigins: [origin], AllowedMethods: ['PUT'], AllowedHeaders: ['*'], MaxAgeSeconds: 600 };
    await s3.send(new PutBucketCorsCommand({ Bucket: this.#bucket, CORSConfiguration: { CORSRules: [rule] } }));
    s3.destroy();
  }

  /**
   * Returns a URL that one browser may upload a file to, for five minutes. It is signed with a temporary key that may write below the
   * visitor's prefix alone, so a mistake here cannot give away more.
   */
  async uploadUrl(visitor, name) {
    const arn = `arn:aws:s3:::${this.#bucket}/uploads/${visitor}/*`;
    const statement = { Effect: 'Allow', Action: 's3:PutObject', Resource: arn };
    const sts = new STSClient(this.#settings);
    const { Credentials: key } = await sts.send(
      new GetFederationTokenCommand({
        Name: visitor,
        DurationSeconds: 900,
        Policy: JSON.stringify({ Version: '2012-10-17', Statement: [statement] }),
      }),
    );
    sts.destroy();
    const credentials = {
      accessKeyId: key.AccessKeyId,
      secretAccessKey: key.SecretAccessKey,
      sessionToken: key.SessionToken,
    };
    const s3 = new S3Client({ ...this.#settings, credentials, requestChecksumCalculation: 'WHEN_REQUIRED' });
    const put = new PutObjectCommand({ Bucket: this.#bucket, Key: `uploads/${visitor}/${name}` });
    return getSignedUrl(s3, put, { expiresIn: 300 });
  }
}
