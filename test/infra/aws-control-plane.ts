import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** The resources of an account that a preflight reads. */
export interface StandInAccount {
  readonly id: string;
  readonly roles: readonly string[];
  /** By `<service>/<code>`: of the account; others have only the usual value. */
  readonly quotas: Readonly<Record<string, number>>;
  readonly usualQuotas: Readonly<Record<string, number>>;
  readonly bootstrapVersion: number | undefined;
  readonly zoneIds: readonly string[];
  readonly certificates: Readonly<Record<string, { readonly status: string; readonly names: readonly string[] }>>;
  readonly hostedZones: Readonly<Record<string, string>>;
  /** Calls that the credentials may not make. */
  readonly denied: readonly string[];
}

interface Reply {
  readonly status: number;
  readonly body: string;
  readonly type: string;
}

/** The read-only actions: any other call fails the test. */
const reading = /^(Get|Describe)/;

/**
 * The parts of AWS that a preflight asks, in their own protocols (Query, JSON, REST), over an account that a test describes.
 * The forms are those of the API references:
 * https://docs.aws.amazon.com/IAM/latest/APIReference/API_GetRole.html
 * https://docs.aws.amazon.com/servicequotas/2019-06-24/apireference/API_GetServiceQuota.html
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeStacks.html (an unknown stack is a ValidationError)
 * https://docs.aws.amazon.com/acm/latest/APIReference/API_DescribeCertificate.html
 * https://docs.aws.amazon.com/Route53/latest/APIReference/API_GetHostedZone.html
 */
export class AwsControlPlane {
  /** `<action>` of each call. */
  readonly calls: string[] = [];
  readonly #account: StandInAccount;
  readonly #server: Server;

  private constructor(account: StandInAccount) {
    this.#account = account;
    this.#server = createServer((request, response) => {
      void this.#answer(request).then(
        ({ status, body, type }) => response.writeHead(status, { 'content-type': type }).end(body),
        (error: unknown) => response.writeHead(500).end(String(error)),
      );
    });
  }

  static async start(account: StandInAccount): Promise<AwsControlPlane> {
    const started = new AwsControlPlane(account);
    await new Promise<void>((resolve) => started.#server.listen(0, '127.0.0.1', resolve));
    return started;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage): Promise<Reply> {
    const body = await text(request);
    const target = String(request.headers['x-amz-target'] ?? '').split('.')[1];
    const zone = /\/hostedzone\/(\w+)/.exec(request.url!)?.[1];
    const form = new URLSearchParams(target === undefined && zone === undefined ? body : '');
    const action = target ?? (zone === undefined ? form.get('Action')! : 'GetHostedZone');
    this.calls.push(action);
    if (!reading.test(action)) throw new Error(`${action} changes something`);
    if (this.#account.denied.includes(action)) {
      return target === undefined ? queryError(403, 'AccessDenied', 'no') : jsonError('AccessDeniedException', 'no');
    }
    if (zone !== undefined) return this.#hostedZone(zone);
    return target === undefined ? this.#query(action, form) : this.#json(action, body);
  }

  #query(action: string, form: URLSearchParams): Reply {
    const { id, roles, bootstrapVersion, zoneIds } = this.#account;
    const result = (inner: string): Reply =>
      xml(`<${action}Response><${action}Result>${inner}</${action}Result></${action}Response>`);
    if (action === 'GetCallerIdentity') return result(`<Account>${id}</Account>`);
    if (action === 'GetRole') {
      const name = form.get('RoleName')!;
      if (!roles.includes(name)) return queryError(404, 'NoSuchEntity', `The role with name ${name} cannot be found.`);
      return result(`<Role><RoleName>${name}</RoleName></Role>`);
    }
    if (action === 'DescribeStacks') {
      if (bootstrapVersion === undefined)
        return queryError(400, 'ValidationError', 'Stack with id CDKToolkit does not exist');
      const output = `<OutputKey>BootstrapVersion</OutputKey><OutputValue>${bootstrapVersion}</OutputValue>`;
      return result(`<Stacks><member><Outputs><member>${output}</member></Outputs></member></Stacks>`);
    }
    // EC2 has a dialect of its own.
    const items = zoneIds.map((zone) => `<item><zoneId>${zone}</zoneId><zoneState>available</zoneState></item>`);
    return xml(`<${action}Response><availabilityZoneInfo>${items.join('')}</availabilityZoneInfo></${action}Response>`);
  }

  #json(action: string, body: string): Reply {
    const asked = JSON.parse(body) as Record<string, string>;
    if (action === 'DescribeCertificate') {
      const found = this.#account.certificates[asked['CertificateArn']!];
      if (found === undefined) return jsonError('ResourceNotFoundException', 'no certificate');
      return json({ Certificate: { Status: found.status, SubjectAlternativeNames: found.names } });
    }
    const quotas = action === 'GetServiceQuota' ? this.#account.quotas : this.#account.usualQuotas;
    const Value = quotas[`${asked['ServiceCode']}/${asked['QuotaCode']}`];
    return Value === undefined ? jsonError('NoSuchResourceException', 'no quota') : json({ Quota: { Value } });
  }

  #hostedZone(id: string): Reply {
    const name = this.#account.hostedZones[id];
    if (name === undefined) return queryError(404, 'NoSuchHostedZone', `No hosted zone found with ID: ${id}`);
    return xml(
      `<GetHostedZoneResponse><HostedZone><Id>/hostedzone/${id}</Id><Name>${name}.</Name></HostedZone></GetHostedZoneResponse>`,
    );
  }
}

function xml(body: string, status = 200): Reply {
  return { status, body: `<?xml version="1.0"?>${body}`, type: 'text/xml' };
}

function json(body: object, status = 200): Reply {
  return { status, body: JSON.stringify(body), type: 'application/x-amz-json-1.1' };
}

function queryError(status: number, code: string, message: string): Reply {
  return xml(`<ErrorResponse><Error><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`, status);
}

function jsonError(type: string, message: string): Reply {
  return json({ __type: type, message }, 400);
}
