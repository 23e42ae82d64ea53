/**
 * The paths by which a load balancer and ECS ask a server whether it is healthy, as a template has them. Either of them is enough for ECS
 * to stop the task: https://docs.aws.amazon.com/AmazonECS/latest/developerguide/load-balancer-healthcheck.html,
 * https://docs.aws.amazon.com/AmazonECS/latest/developerguide/healthcheck.html
 */
export function healthChecks(streaming: object): { readonly loadBalancer: string; readonly container: string } {
  const { Resources } = streaming as { Resources: Record<string, { Type: string; Properties: object }> };
  const first = (type: string): object => Object.values(Resources).find(({ Type }) => Type === type)!.Properties;
  const { HealthCheckPath } = first('AWS::ElasticLoadBalancingV2::TargetGroup') as { HealthCheckPath: string };
  const { ContainerDefinitions } = first('AWS::ECS::TaskDefinition') as {
    ContainerDefinitions: readonly { readonly HealthCheck?: { readonly Command: readonly string[] } }[];
  };
  const command = ContainerDefinitions[0]!.HealthCheck!.Command.join(' ');
  return { loadBalancer: HealthCheckPath, container: /127\.0\.0\.1:\d+(\/[\w/]+)/.exec(command)![1]! };
}
