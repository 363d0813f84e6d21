# SPDX-License-Identifier: Apache-2.0
"""Reports and images of Tenstorrent devices."""
