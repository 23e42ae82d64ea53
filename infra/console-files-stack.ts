import { Stack, type StackProps, Validations } from 'aws-cdk-lib';
import { Bucket, type IBucket } from 'aws-cdk-lib/aws-s3';
import { BucketDeployment, type BucketDeploymentProps, CacheControl, Source } from 'aws-cdk-lib/aws-s3-deployment';
import type { Construct } from 'constructs';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheControl, type ConsoleConfig } from '../shared/protocol/console/headers.ts';
import { consoleIndex } from '../shared/protocol/console/pages.ts';
import type { ConsoleStack } from './console-stack.ts';

export interface ConsoleFilesStackProps extends StackProps {
  readonly console: ConsoleStack;
  /** Where the built console lies. */
  readonly directory: string;
  /** What the console is told. */
  readonly config: ConsoleConfig;
  /** The origin of the endpoint: it may be a reference, which cannot be taken apart. */
  readonly endpointOrigin: string;
}

/** The files of the console, and what it is told of the deployment. Files of an earlier one stay for pages that are open. */
export class ConsoleFilesStack extends Stack {
  readonly #bucket: IBucket;

  constructor(scope: Construct, id: string, { console, directory, ...props }: ConsoleFilesStackProps) {
    const { config, endpointOrigin, ...stackProps } = props;
    super(scope, id, stackProps);
    this.#bucket = this.#bucketOf(console);
    // CloudFront compresses them itself.
    const files = Source.asset(directory, { exclude: ['**/*.br', '**/*.gz'] });
    const index = consoleIndex.slice(1);
    const first = this.#deploy('Assets', files, '/assets/', { exclude: ['*'], include: ['assets/*'] });
    const others = this.#deploy('Others', files, '/', { exclude: ['assets/*', index, 'config.json'] });
    const told = this.#deploy('Config', Source.data('config.json', this.toJsonString(config)), undefined);
    // The page comes last, when what it loads is there.
    const page = pageFor(endpointOrigin, readFileSync(join(directory, index), 'utf8'));
    this.#deploy('Page', Source.data(index, page), consoleIndex).node.addDependency(first, others, told);
  }

  /** By exports with names of their own, which what is acknowledged can say. */
  #bucketOf(console: ConsoleStack): IBucket {
    this.addStackDependency(console);
    const exported = { arn: `${console.stackName}-files-arn`, name: `${console.stackName}-files-name` };
    this.#acknowledge(`${exported.arn}/*`);
    return Bucket.fromBucketAttributes(this, 'Files', {
      bucketArn: console.exportValue(console.bucket.bucketArn, { name: exported.arn }),
      bucketName: console.exportValue(console.bucket.bucketName, { name: exported.name }),
    });
  }

  /** The function that copies the files is the CDK's own. @param files what it may write */
  #acknowledge(files: string): void {
    const assets = `arn:aws:s3:::cdk-hnb659fds-assets-${this.account}-${this.region}/*`;
    const actions = ['GetBucket*', 'GetObject*', 'List*', 'Abort*', 'DeleteObject*'];
    const granted = [...actions.map((action) => `Action::s3:${action}`), `Resource::${assets}`, `Resource::${files}`];
    Validations.of(this).acknowledge(
      {
        id: 'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole]',
        reason: "The function that copies the files is the CDK's own, and writes its log.",
      },
      { id: 'AwsSolutions-L1', reason: "The function that copies the files is the CDK's own, and so is its runtime." },
      ...granted.map((what) => ({
        id: `AwsSolutions-IAM5[${what}]`,
        reason:
          "The function that copies the files is the CDK's own. It reads assets and writes to the console's bucket.",
      })),
    );
  }

  /** @param path of one of the files; undefined: browsers keep none of them */
  #deploy(
    id: string,
    source: ReturnType<typeof Source.asset>,
    path: string | undefined,
    filters: Pick<BucketDeploymentProps, 'exclude' | 'include'> = {},
  ): BucketDeployment {
    return new BucketDeployment(this, id, {
      sources: [source],
      destinationBucket: this.#bucket,
      cacheControl: [CacheControl.fromString(path === undefined ? 'no-store' : cacheControl(path))],
      prune: false,
      // The bucket cannot go with files in it.
      retainOnDelete: false,
      ...filters,
    });
  }
}

/**
 * Returns the page with the very endpoint in a policy of its own, which applies beside that of the headers: they may be deployed before
 * the endpoint has its name. https://www.w3.org/TR/CSP3/#multiple-policies
 * @throws Error if it has no head
 */
export function pageFor(endpoint: string, html: string): string {
  const head = /<head>/i.exec(html);
  if (!head) throw new Error(`the console's ${consoleIndex} has no <head>`);
  const policy = `connect-src 'self' ${endpoint}; frame-src 'self' ${endpoint}`;
  const at = head.index + head[0].length;
  return `${html.slice(0, at)}<meta http-equiv="Content-Security-Policy" content="${policy}">${html.slice(at)}`;
}
