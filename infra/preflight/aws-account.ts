import { ACMClient, DescribeCertificateCommand } from '@aws-sdk/client-acm';
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { DescribeAvailabilityZonesCommand, EC2Client } from '@aws-sdk/client-ec2';
import { GetRoleCommand, IAMClient } from '@aws-sdk/client-iam';
import { GetHostedZoneCommand, Route53Client } from '@aws-sdk/client-route-53';
import {
  GetAWSDefaultServiceQuotaCommand,
  GetServiceQuotaCommand,
  ServiceQuotasClient,
} from '@aws-sdk/client-service-quotas';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import type { AccountReader, FoundCertificate } from './checks.ts';

/** The account of the credentials in the environment. */
export class AwsAccount implements AccountReader {
  readonly #region: string;

  /** @param region the region of the deployment */
  constructor(region: string) {
    this.#region = region;
  }

  async accountId(): Promise<string> {
    const { Account = '' } = await new STSClient({ region: this.#region }).send(new GetCallerIdentityCommand({}));
    return Account;
  }

  async hasRole(RoleName: string): Promise<boolean> {
    const found = await unlessMissing(new IAMClient({ region: 'us-east-1' }).send(new GetRoleCommand({ RoleName })));
    return found !== undefined;
  }

  async quota(ServiceCode: string, QuotaCode: string): Promise<number> {
    const client = new ServiceQuotasClient({ region: this.#region });
    const asked = { ServiceCode, QuotaCode };
    const found =
      (await unlessMissing(client.send(new GetServiceQuotaCommand(asked)))) ??
      (await client.send(new GetAWSDefaultServiceQuotaCommand(asked)));
    return found.Quota?.Value ?? 0;
  }

  async bootstrapVersion(): Promise<number | undefined> {
    const client = new CloudFormationClient({ region: this.#region });
    const found = await unlessMissing(client.send(new DescribeStacksCommand({ StackName: 'CDKToolkit' })));
    const outputs = found?.Stacks?.[0]?.Outputs ?? [];
    const version = outputs.find(({ OutputKey }) => OutputKey === 'BootstrapVersion')?.OutputValue;
    return version === undefined ? undefined : Number(version);
  }

  async zoneIds(): Promise<readonly string[]> {
    const client = new EC2Client({ region: this.#region });
    const { AvailabilityZones = [] } = await client.send(new DescribeAvailabilityZonesCommand({}));
    return AvailabilityZones.flatMap(({ ZoneId, State }) => (ZoneId && State === 'available' ? [ZoneId] : []));
  }

  async certificate(CertificateArn: string): Promise<FoundCertificate | undefined> {
    const client = new ACMClient({ region: CertificateArn.split(':')[3]! });
    const found = await unlessMissing(client.send(new DescribeCertificateCommand({ CertificateArn })));
    const { Status, SubjectAlternativeNames = [] } = found?.Certificate ?? {};
    return found && { isIssued: Status === 'ISSUED', names: SubjectAlternativeNames };
  }

  async hostedZone(Id: string): Promise<string | undefined> {
    const found = await unlessMissing(
      new Route53Client({ region: 'us-east-1' }).send(new GetHostedZoneCommand({ Id })),
    );
    return found?.HostedZone?.Name?.replace(/\.$/, '');
  }
}

/** The error names of the services for a missing resource. CloudFormation has none. */
const missing = new Set([
  'NoSuchEntity',
  'NoSuchEntityException',
  'NoSuchResourceException',
  'ResourceNotFoundException',
  'NoSuchHostedZone',
]);

async function unlessMissing<Found>(asking: Promise<Found>): Promise<Found | undefined> {
  try {
    return await asking;
  } catch (error) {
    const { name, message } = error as Error;
    if (missing.has(name) || (name === 'ValidationError' && message.includes('does not exist'))) return undefined;
    throw error;
  }
}
