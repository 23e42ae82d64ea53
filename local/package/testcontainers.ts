import { AbstractStartedContainer, GenericContainer, Wait, type StartedTestContainer } from 'testcontainers';
import { awsEnvironment, type ClientConfig } from './client-config.ts';
import type { StillageCredentials } from './index.ts';

const port = 9000;

/**
 * The service in a container: ephemeral, with one access key. Every option of `stillage start` can be set by its variable:
 * `withEnvironment({ STILLAGE_REGION: 'eu-central-1' })`.
 */
export class StillageContainer extends GenericContainer {
  #credentials: StillageCredentials = { accessKeyId: 'STILLAGE', secretAccessKey: 'secret-of-the-container' };
  #region = 'us-east-1';

  /** @param image made of the Dockerfile of Stillage: `docker build --tag stillage .` */
  constructor(image: string) {
    super(image);
    this.withExposedPorts(port).withWaitStrategy(Wait.forHttp('/_stillage/health', port));
    this.withEnvironment({
      ...{ STILLAGE_EPHEMERAL: 'true', STILLAGE_CONSOLE_PORT: '0' },
      STILLAGE_REGION: this.#region,
    });
  }

  /** Chooses the access key. */
  withCredentials(credentials: StillageCredentials): this {
    this.#credentials = { ...credentials };
    return this;
  }

  /** Creates these buckets at the start. */
  withBuckets(...names: string[]): this {
    return this.withEnvironment({ STILLAGE_BUCKETS: names.join(',') });
  }

  withRegion(region: string): this {
    this.#region = region;
    return this.withEnvironment({ STILLAGE_REGION: region });
  }

  override async start(): Promise<StartedStillageContainer> {
    const { accessKeyId, secretAccessKey } = this.#credentials;
    this.withEnvironment({ STILLAGE_ACCESS_KEY: accessKeyId, STILLAGE_SECRET_KEY: secretAccessKey });
    return new StartedStillageContainer(await super.start(), this.#region, this.#credentials);
  }
}

/** A container that answers requests. */
export class StartedStillageContainer extends AbstractStartedContainer {
  readonly region: string;
  readonly credentials: StillageCredentials;

  constructor(started: StartedTestContainer, region: string, credentials: StillageCredentials) {
    super(started);
    this.region = region;
    this.credentials = credentials;
  }

  /** `http://localhost:49152`: where the tests reach it. */
  get endpoint(): string {
    return `http://${this.getHost()}:${this.getMappedPort(port)}`;
  }

  /** The configuration of an S3 client of the AWS SDK: `new S3Client(container.clientConfig)`. */
  get clientConfig(): ClientConfig {
    const { endpoint, region, credentials } = this;
    return { endpoint, region, credentials, forcePathStyle: true };
  }

  /** The variables that AWS's programs and SDKs read. */
  get env(): Readonly<Record<string, string>> {
    return awsEnvironment(this.clientConfig);
  }
}
