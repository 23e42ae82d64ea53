/** The response to a probe. */
export interface ProbeAnswer {
  readonly status: number;
  /** True if it came from the service rather than CloudFront, API Gateway or the load balancer. */
  readonly isOwn: boolean;
}

/** A request as a client could send it. */
interface Probe {
  readonly name: string;
  readonly path: string;
  readonly isExpected: (answer: ProbeAnswer) => boolean;
}

/** Checks table and blobs through the control lane. */
const control: Probe = { name: 'control lane', path: '/_stillage/health', isExpected: ({ status }) => status === 200 };

/** Requests a public link that does not exist. Any response of the service but a 5xx is expected. */
const byte: Probe = {
  name: 'byte lane',
  path: '/_public/probe',
  isExpected: ({ status, isOwn }) => isOwn && status < 500,
};

export interface ProbeDeps {
  readonly hasByteLane: boolean;
  /** Sends a GET to the endpoint, as a client would. @throws Error if there is no response */
  readonly ask: (path: string) => Promise<ProbeAnswer>;
  /** The highest recent rate of 5xx responses of a distribution, in per cent. */
  readonly edgeErrorPercent: () => Promise<number>;
}

export interface Probed {
  readonly failedProbes: number;
  /** The failed probes, with reasons. */
  readonly failures: readonly string[];
  readonly edgeErrorPercent: number;
}

/**
 * Sends a request to each lane of a deployment, as a client would, and reads the error rates of CloudFront. Alarms in the region of
 * the deployment cannot use metrics of CloudFront, which are in us-east-1.
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
