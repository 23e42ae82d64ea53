/** A certificate, as far as a deployment depends on it. */
export interface FoundCertificate {
  readonly isIssued: boolean;
  /** The names that it is for; some begin with `*.`. */
  readonly names: readonly string[];
}

/** What a preflight asks of an account. Nothing is changed. Each rejects where it may not be asked. */
export interface AccountReader {
  /** The id of the account of the credentials. */
  accountId(): Promise<string>;
  hasRole(name: string): Promise<boolean>;
  /** The value of a quota in the region of the deployment: that of the account, or else the usual one. */
  quota(service: string, code: string): Promise<number>;
  /** The version of the CDK's bootstrap stack in the region of the deployment; undefined: there is none. */
  bootstrapVersion(): Promise<number | undefined>;
  /** The ids of the zones that the account can use in the region of the deployment. */
  zoneIds(): Promise<readonly string[]>;
  /** Asked in the certificate's own region. */
  certificate(arn: string): Promise<FoundCertificate | undefined>;
  /** The name of a hosted zone, without a dot at the end. */
  hostedZone(id: string): Promise<string | undefined>;
}
