/** What a probe got. */
export interface ProbeAnswer {
  readonly status: number;
  /** Whether it came from the service, and not from what stands before it. */
  readonly isOwn: boolean;
}

/** One request that a client could send. */
interface Probe {
  readonly name: string;
  readonly path: string;
  readonly isExpected: (answer: ProbeAnswer) => boolean;
}

/** Table and blobs, asked by way of the control lane. */
const control: Probe = { name: 'control lane', path: '/_stillage/health', isExpected: ({ status }) => status === 200 };

/** A public link that nobody made: any answer of the service itself but an error of its own will do. */
const byte: Probe = {
  name: 'byte lane',
  path: '/_public/probe',
  isExpected: ({ status, isOwn }) => isOwn && status < 500,
};

export interface ProbeDeps {
  readonly hasByteLane: boolean;
  /** Sends a GET to the endpoint, as a client would. @throws Error without an answer */
  readonly ask: (path: string) => Promise<ProbeAnswer>;
  /** The largest share of requests, in per cent, that a distribution answered 5xx lately. */
  readonly edgeErrorPercent: () => Promise<number>;
}

export interface Probed {
  readonly failedProbes: number;
  /** What failed, and how. */
  readonly failures: readonly string[];
  readonly edgeErrorPercent: number;
}

/**
 * Sends each lane of a deployment a request by the way of a client, and reads what CloudFront counts of errors: alarms in the region of the
 * deployment cannot see metrics of CloudFront, which lie in us-east-1.
 * https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/monitoring-using-cloudwatch.html
 */
export async function probeEndpoint({ hasByteLane, ask, edgeErrorPercent }: ProbeDeps): Promise<Probed> {
  const probes = hasByteLane ? [control, byte] : [control];
  const [found, percent] = await Promise.all([
    Promise.all(probes.map((probe) => failureOf(probe, ask))),
    edgeErrorPercent(),
  ]);
  const failures = found.filter((failure) => failure !== undefined);
  return { failedProbes: failures.length, failures, edgeErrorPercent: percent };
}

async function failureOf({ name, path, isExpected }: Probe, ask: ProbeDeps['ask']): Promise<string | undefined> {
  try {
    const answer = await ask(path);
    return isExpected(answer) ? undefined : `${name}: ${answer.status}${answer.isOwn ? '' : ', not from the service'}`;
  } catch (error) {
    return `${name}: ${error instanceof Error ? error.message : String(error)}`;
  }
}
