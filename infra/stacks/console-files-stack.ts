import { Stack, type StackProps, Validations } from 'aws-cdk-lib';
import { Bucket, type IBucket } from 'aws-cdk-lib/aws-s3';
import { BucketDeployment, type BucketDeploymentProps, CacheControl, Source } from 'aws-cdk-lib/aws-s3-deployment';
import type { Construct } from 'constructs';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheControl, type ConsoleConfig } from '../../shared/protocol/console/headers.ts';
import { consoleIndex } from '../../shared/protocol/console/pages.ts';
import type { ConsoleStack } from './console-stack.ts';

export interface ConsoleFilesStackProps extends StackProps {
  readonly console: ConsoleStack;
  /** The directory of the built console. */
  readonly directory: string;
  /** The configuration of the console. */
  readonly config: ConsoleConfig;
  /** The origin of the endpoint, which may be an unresolved token. */
  readonly endpointOrigin: string;
}

/** The files and the configuration of the console. Files of earlier versions are kept for open pages. */
export class ConsoleFilesStack extends Stack {
  readonly #bucket: IBucket;

  constructor(scope: Construct, id: string, { console, directory, ...props }: ConsoleFilesStackProps) {
    const { config, endpointOrigin, ...stackProps } = props;
    super(scope, id, stackProps);
    this.#bucket = this.#bucketOf(console);
    // CloudFront compresses the files.
    const files = Source.asset(directory, { exclude: ['**/*.br', '**/*.gz'] });
    const index = consoleIndex.slice(1);
    const first = this.#deploy('Assets', files, '/assets/', { exclude: ['*'], include: ['assets/*'] });
    const others = this.#deploy('Others', files, '/', { exclude: ['assets/*', index, 'config.json'] });
    const told = this.#deploy('Config', Source.data('config.json', this.toJsonString(config)), undefined);
    // The page is deployed last, after everything it loads.
    const page = pageFor(endpointOrigin, readFileSync(join(directory, index), 'utf8'));
    this.#deploy('Page', Source.data(index, page), consoleIndex).node.addDependency(first, others, told);
  }

  /** Imports the bucket by exports with fixed names, which the acknowledgements of cdk-nag refer to. */
  #bucketOf(console: ConsoleStack): IBucket {
    this.addStackDependency(console);
    const exported = { arn: `${console.stackName}-files-arn`, name: `${console.stackName}-files-name` };
    this.#acknowledge(`${exported.arn}/*`);
    return Bucket.fromBucketAttributes(this, 'Files', {
      bucketArn: console.exportValue(console.bucket.bucketArn, { name: exported.arn }),
      bucketName: console.exportValue(console.bucket.bucketName, { name: exported.name }),
    });
  }

  /** Acknowledges findings of cdk-nag about the CDK's own function that copies the files. @param files the resource it may write */
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

  /** @param path the path of one of the files; undefined: browsers cache none of them */
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
      // Only an empty bucket can be deleted.
      retainOnDelete: false,
      ...filters,
    });
  }
}

/**
 * Returns the page with the endpoint in a separate policy, which applies in addition to that of the headers: they may be deployed
 * before the endpoint has its name. https://www.w3.org/TR/CSP3/#multiple-policies
 * @throws Error if the page has no <head>
 */
export function pageFor(endpoint: string, html: string): string {
  const head = /<head>/i.exec(html);
  if (!head) throw new Error(`the console's ${consoleIndex} has no <head>`);
  const policy = `connect-src 'self' ${endpoint}; frame-src 'self' ${endpoint}`;
  const at = head.index + head[0].length;
  return `${html.slice(0, at)}<meta http-equiv="Content-Security-Policy" content="${policy}">${html.slice(at)}`;
}
