import { BlockList, isIPv4, isIPv6 } from 'node:net'

// What leads back to this machine, into its network, or to nobody (the registries of special-purpose addresses of IANA).
const privateIpv4: readonly [network: string, prefix: number][] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  // Link-local, where clouds tell a machine its credentials.
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
]

// Of what is global unicast: protocols that carry an IPv4 address inside, and documentation.
const privateIpv6: readonly [network: string, prefix: number][] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
]

const refusedIpv4 = blockList(privateIpv4, 'ipv4')
const refusedIpv6 = blockList(privateIpv6, 'ipv6')
const globalUnicast = blockList([['2000::', 3]], 'ipv6')

/**
 * Whether an address is one of the internet at large. Of IPv6 only global unicast is: loopback, link-local, unique-local,
 * multicast, and all forms that carry an IPv4 address (mapped, compatible, translated) are outside of it.
 */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !refusedIpv4.check(address, 'ipv4')
  if (!isIPv6(address) || address.includes('%')) return false
  return globalUnicast.check(address, 'ipv6') && !refusedIpv6.check(address, 'ipv6')
}

function blockList(networks: readonly [network: string, prefix: number][], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList()
  for (const [network, prefix] of networks) list.addSubnet(network, prefix, family)
  return list
}
